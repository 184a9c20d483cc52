"""Indented blocks of the theory pages are equations in plain characters; the site sets them as such."""

import html
import re

BLOCK = re.compile(r"(?:^|(?<=\n\n))((?:    \S.*\n(?:(?:    .*)?\n)*?)+)(?=\S|\Z)", re.MULTILINE)
NUMBER = re.compile(r"\s+((?:\[\w+\] )?\((?:\d+)\))((?:\s{2,}\S.*)?)$")
SUBSCRIPT = re.compile(r"_(\{[^}]*\}|[A-Za-z0-9∥⊥]+(?:[−+][A-Za-z0-9]+)?)")
SUPERSCRIPT = re.compile(r"\^(\{[^}]*\}|[A-Za-z0-9]+)")
LETTER = re.compile(r"(?<![A-Za-zα-ωΑ-Ω<>/&;])([A-Za-zα-ωΔ][\u0300-\u036f]*)(?![A-Za-zα-ωΑ-Ω<>])")


def _braces(text: str) -> str:
    return text[1:-1] if text.startswith("{") else text


def line(text: str) -> str:
    """One line: subscripts, superscripts, single letters in italics, the number at the right."""
    found = NUMBER.search(text)
    number, remark = (found[1], found[2].strip()) if found else ("", "")
    body = html.escape(text[: found.start()] if found else text, quote=False)
    body = LETTER.sub(r"<i>\1</i>", body)
    body = SUPERSCRIPT.sub(lambda m: f"<sup>{_braces(m[1])}</sup>", re.sub(r"\^<i>(\w)</i>", r"^\1", body))
    body = SUBSCRIPT.sub(lambda m: f"<sub>{_braces(m[1])}</sub>", re.sub(r"_<i>(\w)</i>", r"_\1", body))
    tail = (f"   <span>{html.escape(remark)}</span>" if remark else "") + (f"<b>{html.escape(number)}</b>" if number else "")
    return body + tail


def equations(markdown: str) -> str:
    """The page with its indented blocks as equations; fenced blocks are left alone."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)

    def block(match: re.Match[str]) -> str:
        lines = [text[4:] for text in match[1].rstrip("\n").split("\n")]
        return '<div class="equation">' + "\n".join(line(text) if text.strip() else "&nbsp;" for text in lines) + "</div>\n\n"

    return "".join(part if part.startswith("```") else BLOCK.sub(block, part) for part in parts)
