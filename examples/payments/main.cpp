// SPDX-License-Identifier: Apache-2.0
//
// Payments behind four layers of protection, and what happens without one of them:
//
//   payments                          everything
//   payments --without fence          … but one layer, or several
//
// docs/payments.md explains what can be seen.
#include "scenes.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace payments {
namespace {

constexpr std::string_view usage =
    "usage: payments [--without idempotency|lock|constraint|fence]...\n";

struct Arguments {
  Place place;
  std::vector<std::string> pay;  // order, account, amount, what to do in the middle
  bool is_good = true;
};

bool leave_out(Layers& layers, std::string_view layer) {
  bool* const switches[] = {&layers.idempotency, &layers.lock, &layers.constraint, &layers.fence};
  constexpr std::string_view names[] = {"idempotency", "lock", "constraint", "fence"};
  for (std::size_t at = 0; at < std::size(names); ++at) {
    if (names[at] != layer) continue;
    *switches[at] = false;
    return true;
  }
  return false;
}

Arguments parse(std::span<char*> words) {
  Arguments arguments;
  arguments.place.program = std::filesystem::read_symlink("/proc/self/exe");
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--without" && at + 1 < words.size()) {
      arguments.is_good &= leave_out(arguments.place.layers, words[++at]);
    } else if (word == "--folder" && at + 1 < words.size()) {
      arguments.place.folder = words[++at];
    } else if (word == "--pay" && at + 4 < words.size()) {
      const auto details = words.subspan(at + 1, 4);
      arguments.pay.assign(details.begin(), details.end());
      at += details.size();
    } else {
      arguments.is_good = false;
    }
  }
  return arguments;
}

// Removed in the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-payments-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::size_t show(const Scene& scene) {
  std::cout << scene.title << "\n  " << scene.story << '\n';
  for (const auto& mistake : scene.mistakes) std::cout << "  WRONG: " << mistake << '\n';
  if (scene.mistakes.empty()) std::cout << "  the books are right\n";
  std::cout << std::flush;
  return scene.mistakes.size();
}

int play(Place place) {
  const TemporaryFolder folder;
  place.folder = folder.path();
  std::size_t mistakes = 0;
  for (const auto& scene : {duplicates, two_orders, a_pause, a_crash})
    mistakes += show(scene(place));
  if (mistakes == 0) {
    std::cout << "\nEverybody paid once, and was told so.\n";
    return 0;
  }
  std::cout << "\n" << mistakes << (mistakes == 1 ? " mistake.\n" : " mistakes.\n");
  return 1;
}

}  // namespace
}  // namespace payments

int main(int argc, char** argv) {
  try {
    auto arguments = payments::parse(std::span(argv, static_cast<std::size_t>(argc)));
    if (!arguments.is_good) {
      std::cerr << payments::usage;
      return 64;
    }
    const auto& pay = arguments.pay;
    if (pay.empty()) return payments::play(std::move(arguments.place));
    return payments::pay_and_stop(arguments.place, {pay[0], pay[1], std::stoll(pay[2])}, pay[3]);
  } catch (const std::exception& error) {
    std::cerr << "payments: " << error.what() << '\n';
    return 1;
  }
}
