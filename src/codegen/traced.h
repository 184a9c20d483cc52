#pragma once

#include "codegen/trace.h"
#include "kansetsu/spatial/scalar.h"

/// A number that records the operations on it in the trace of its thread. Kernels are instantiated with it as T.
namespace kansetsu {
namespace codegen {

/// The trace of this thread; set by TraceScope.
inline thread_local Trace* current_trace = nullptr;

class TraceScope {
 public:
  explicit TraceScope(Trace& trace) : before_(current_trace) { current_trace = &trace; }
  ~TraceScope() { current_trace = before_; }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* before_;
};

/// A traced number of type Real. Zeroed memory represents the number zero: the first operation of a trace.
template <class Real>
struct Traced {
  Value id = 0;

  struct Mask {
    Value id;
    friend Mask operator&(Mask a, Mask b) { return {current_trace->both(a.id, b.id)}; }
    friend Mask operator|(Mask a, Mask b) { return {current_trace->either(a.id, b.id)}; }
    friend Mask operator!(Mask a) { return {current_trace->contrary(a.id)}; }
  };

  Traced() = default;
  Traced(double value) : id(current_trace->constant(value)) {}  // NOLINT(google-explicit-constructor): as packs
  static Traced at(Value id) {
    Traced x;
    x.id = id;
    return x;
  }

  friend Traced operator+(Traced a, Traced b) { return at(current_trace->add(a.id, b.id)); }
  friend Traced operator-(Traced a, Traced b) { return at(current_trace->sub(a.id, b.id)); }
  friend Traced operator*(Traced a, Traced b) { return at(current_trace->mul(a.id, b.id)); }
  friend Traced operator/(Traced a, Traced b) { return at(current_trace->div(a.id, b.id)); }
  friend Traced operator-(Traced a) { return at(current_trace->negate(a.id)); }
  friend Traced operator+(Traced a) { return a; }
  Traced& operator+=(Traced b) { return *this = *this + b; }
  Traced& operator-=(Traced b) { return *this = *this - b; }
  Traced& operator*=(Traced b) { return *this = *this * b; }

  friend Mask operator<(Traced a, Traced b) { return {current_trace->less(a.id, b.id)}; }
  friend Mask operator>(Traced a, Traced b) { return b < a; }
  friend Mask operator<=(Traced a, Traced b) { return {current_trace->less_equal(a.id, b.id)}; }
  friend Mask operator>=(Traced a, Traced b) { return b <= a; }
  friend Mask operator==(Traced a, Traced b) { return {current_trace->equal(a.id, b.id)}; }
  friend Traced select(Mask m, Traced a, Traced b) { return at(current_trace->select(m.id, a.id, b.id)); }

  friend Traced madd(Traced a, Traced b, Traced c) { return at(current_trace->madd(a.id, b.id, c.id)); }
  friend Traced sqrt(Traced a) { return at(current_trace->sqrt(a.id)); }
  friend void sincos(Traced x, Traced& s, Traced& c) {
    s = at(current_trace->sin(x.id));
    c = at(current_trace->cos(x.id));
  }
};

}  // namespace codegen

/// Constants are folded in double for every Real.
template <class Real>
struct ScalarOf<codegen::Traced<Real>> {
  using type = double;
};

}  // namespace kansetsu
