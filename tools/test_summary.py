#!/usr/bin/env python3
"""Sums up JUnit reports of ctest and pytest: prints "N passed, N failed, N skipped", exits with 1 if any failed.

usage: tools/test_summary.py REPORT.xml...

The unit is the test case: a doctest program run by ctest counts as many cases as its own summary line says, and as one
where it printed none (a crash, an example).
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter

DOCTEST_SUMMARY = re.compile(
    r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped"
)


def count_case(case):
    """Counts of one <testcase>."""
    failed = case.find("failure") is not None or case.find("error") is not None
    if not failed and (case.find("skipped") is not None or case.get("status") in ("notrun", "disabled")):
        return Counter(skipped=1)
    summary = DOCTEST_SUMMARY.search(case.findtext("system-out") or "")
    if not summary:
        return Counter(failed=1) if failed else Counter(passed=1)
    counts = Counter(dict(zip(("passed", "failed", "skipped"), map(int, summary.groups()))))
    if failed and counts["failed"] == 0:  # died after the summary, a leak for instance
        counts["failed"] = 1
    return counts


def count_report(text):
    """Counts of one JUnit report."""
    counts = Counter()
    for case in ElementTree.fromstring(text).iter("testcase"):
        counts.update(count_case(case))
    return counts


def main(paths):
    total = Counter()
    for path in paths:
        with open(path, encoding="utf-8") as report:
            total.update(count_report(report.read()))
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
