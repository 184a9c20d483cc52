"""kansetsu compile: what it writes compiles by itself and computes the dynamics of the model."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, Request, State, evaluate, run

COMPILER = os.environ.get("CXX") or shutil.which("c++") or "g++"

# Reads rows of q, v, x from standard input, as many numbers as fit, and prints rnea, crba and aba of each; then compares batches
# in double and single precision with them.
PROGRAM = """
#include "compiled.h"
#include <cstdio>
#include <vector>
namespace m = compiled;
template <class Real>
double difference(const std::vector<double>& q, const std::vector<double>& v, const std::vector<double>& x, const std::vector<double>& tau,
                  const std::vector<double>& M, const std::vector<double>& vdot) {
  const auto n = std::ptrdiff_t(q.size() / m::nq);
  const std::vector<Real> Q(q.begin(), q.end()), V(v.begin(), v.end()), X(x.begin(), x.end());
  std::vector<Real> a(tau.size(), -1), b(M.size(), -1), c(vdot.size(), -1);
  m::batch::rnea(n, Q.data(), V.data(), X.data(), a.data());
  m::batch::crba(n, Q.data(), b.data());
  m::batch::aba(n, Q.data(), V.data(), X.data(), c.data());
  double worst = 0;
  const auto compare = [&](const std::vector<Real>& one, const std::vector<double>& other) {
    double most = 1e-300, off = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      most = std::fmax(most, std::fabs(other[i]));
      off = std::fmax(off, std::fabs(double(one[i]) - other[i]));
    }
    worst = std::fmax(worst, off / most);
  };
  compare(a, tau), compare(b, M), compare(c, vdot);
  return worst;
}
int main() {
  std::vector<double> q, v, x, tau, M, vdot;
  for (double number;;) {
    std::vector<double> row;
    while (row.size() < m::nq + 2 * m::nv && std::scanf("%lf", &number) == 1) row.push_back(number);
    if (row.size() < m::nq + 2 * m::nv) break;
    q.insert(q.end(), row.begin(), row.begin() + m::nq);
    v.insert(v.end(), row.begin() + m::nq, row.begin() + m::nq + m::nv);
    x.insert(x.end(), row.begin() + m::nq + m::nv, row.end());
    const std::size_t at = tau.size(), matrix = M.size();
    tau.resize(at + m::nv), vdot.resize(at + m::nv), M.resize(matrix + m::nv * m::nv);
    m::rnea(&*(q.end() - m::nq), &v[at], &x[at], &tau[at]);
    m::crba(&*(q.end() - m::nq), &M[matrix]);
    m::aba(&*(q.end() - m::nq), &v[at], &x[at], &vdot[at]);
  }
  for (const auto* numbers : {&tau, &M, &vdot}) {
    for (const double number : *numbers) std::printf("%.17g ", number);
    std::printf("\\n");
  }
  std::printf("%g %g\\n", difference<double>(q, v, x, tau, M, vdot), difference<float>(q, v, x, tau, M, vdot));
}
"""


def compiled(folder: Path, model: str, *flags: str):
    """A function from rows of q, v, x to τ, M, v̇ of each and the differences of batches, through a program of its own."""
    result = run("compile", model, "-o", str(folder), "--name", "compiled")
    assert result.exit_code == OK, result.stderr
    assert result.stdout.startswith(str(folder / "compiled.h"))
    (folder / "main.cc").write_text(PROGRAM)
    command = [COMPILER, "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", *flags, "main.cc", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)

    def call(rows: np.ndarray, nv: int):
        text = "\n".join(" ".join(f"{x:.17g}" for x in row) for row in rows)
        out = subprocess.run([folder / "main"], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        tau, M, vdot, differences = (np.array([float(x) for x in line.split()]) for line in out)
        n = len(rows)
        return tau.reshape(n, nv), M.reshape(n, nv, nv), vdot.reshape(n, nv), differences

    return call


@pytest.mark.parametrize("flags", [[], ["-march=native"]])
def test_a_figure_with_a_free_base(tmp_path: Path, flags: list[str]):
    """Inverse dynamics, mass matrix and forward dynamics agree with one another; eleven states are no whole number of registers."""
    program = compiled(tmp_path, "human28", *flags)
    rng = np.random.default_rng(28)
    nq, nv, n = 35, 34, 11
    q = rng.uniform(-1, 1, (n, nq))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    v, a = rng.normal(size=(n, nv)), rng.normal(size=(n, nv))
    tau, M, _, differences = program(np.hstack([q, v, a]), nv)
    bias, _, _, _ = program(np.hstack([q, v, 0 * a]), nv)
    _, _, back, _ = program(np.hstack([q, v, tau]), nv)
    scale = np.abs(tau).max()
    assert np.abs(np.einsum("nij,nj->ni", M, a) + bias - tau).max() < 1e-12 * scale  # rounding of a sum over the row
    assert np.abs(back - a).max() < 1e-8  # condition of M
    assert differences[0] < 1e-12 and differences[1] < 1e-3  # single precision: docs/theory/single_precision.md


def test_gears_give_what_eval_gives(tmp_path: Path, model: Path):
    program = compiled(tmp_path, str(model))
    rng = np.random.default_rng(3)
    q, v, x = (rng.normal(size=(5, 3)) for _ in range(3))
    tau, M, vdot, differences = program(np.hstack([q, v, x]), 3)
    assert differences[0] < 1e-12  # rounding
    names = ["right_hip", "right_ankle", "left_hip"]
    for i in range(5):
        named = [dict(zip(names, map(float, row[i]))) for row in (q, v, x)]
        state = State(q=named[0], v=named[1], a=named[2], tau=named[2])
        reply = evaluate(model, Request(compute=["rnea", "crba", "aba"], states=[state]))
        assert reply.dofs == names
        result = reply.results[0]
        assert np.allclose(tau[i], result["rnea"], rtol=1e-12, atol=1e-12)  # the same recursions in another order: rounding
        assert np.allclose(M[i], result["crba"], rtol=1e-12, atol=1e-12)
        assert np.allclose(vdot[i], result["aba"], rtol=1e-10, atol=1e-10)  # rounding, times the condition of M


def test_what_cannot_be_compiled(tmp_path: Path):
    assert run("compile", "human28").exit_code == USAGE  # no folder
    wrong = run("compile", "human28", "-o", str(tmp_path), "--name", "not a name")
    assert wrong.exit_code == USAGE and "not a name" in wrong.stderr
    large = run("compile", "chain128", "-o", str(tmp_path))
    assert large.exit_code == USAGE and "128 velocities" in large.stderr
    (tmp_path / "file").write_text("")
    taken = run("compile", "human28", "-o", str(tmp_path / "file"))
    assert taken.exit_code == BAD_FILE and str(tmp_path / "file") in taken.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]
