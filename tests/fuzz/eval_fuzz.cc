#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/eval_answer.h"
#include "cli/json_reader.h"
#include "kansetsu/model/figures.h"

namespace {

using namespace kansetsu;

/// What is wrong with the answers to a request, if anything is. The first byte chooses the model.
std::string violation_of(std::string_view input) {
  static const std::array models{pendulum(), chain(2, Base::kFree), human28()};
  if (input.empty()) return {};
  const Model& model = models[std::size_t(static_cast<unsigned char>(input.front())) % models.size()];
  try {
    const cli::Request request = cli::read_request(cli::parse_json(std::string(input.substr(1)), "any"), model, "any");
    cli::Evaluator evaluator(model, {}, request);
    for (const cli::StateInput& state : request.states) {
      const auto answer = nlohmann::json::parse(evaluator.answer(state), nullptr, false);
      if (!answer.is_object()) return "an answer that is no JSON";
      if (!answer.contains("error") && answer.size() != request.quantities.size()) return "an answer that is not whole";
    }
  } catch (const cli::Failure& failure) {
    if (failure.exit != cli::kBadUsage && failure.exit != cli::kBadFile) return "refused as what it is not";
  }
  return {};
}

}  // namespace

/// libFuzzer target: no text crashes the reader of requests, and every state of one that is accepted has an answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string violation = violation_of({reinterpret_cast<const char*>(data), size});
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
