#include <doctest/doctest.h>

#include <string>
#include <thread>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/figures.h"
#include "model/workspace_use.h"

using namespace kansetsu;

#ifdef NDEBUG
constexpr bool kReleased = true;
#else
constexpr bool kReleased = false;
#endif

TEST_CASE("builds with assertions notice a workspace that two threads use at once" * doctest::skip(kReleased)) {
  const Model model = human28();
  const State state(model);
  const Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv());
  Workspace work(model);
  std::string told;
  const auto other = [&] {
    try {
      AbaResult out(model);
      aba(model, state, tau, work, out);
      told = "nothing";
    } catch (const Error& error) {
      told = error.what();
    }
  };
  {
    const WorkspaceUse use(work, "test", model);
    AbaResult out(model);
    aba(model, state, tau, work, out);  // the same thread may: one function calls another
    std::thread(other).join();
    CHECK(told == "aba: another thread is using the workspace; each thread needs one of its own");
  }
  std::thread(other).join();
  CHECK(told == "nothing");  // handed over, one thread at a time
}
