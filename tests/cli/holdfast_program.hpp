// SPDX-License-Identifier: Apache-2.0
//
// The program under test, with a home and a store of its own.
#pragma once

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace holdfast::test {

class Cli : public testing::Test {
 protected:
  // HOME is an empty folder, HOLDFAST_STORE a file store in it; this machine's settings are out of
  // reach.
  std::vector<std::string> environment() const {
    return {"HOME=" + folder_.path().string(), "HOLDFAST_STORE=" + store(),
            "HOLDFAST_SYSTEM_CONFIG=" + path("machine.yml")};
  }
  std::string store() const { return "file:" + (folder_.path() / "locks").string(); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  static std::vector<std::string> words(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HOLDFAST_BINARY);
    return arguments;
  }
  ProgramOptions with(ProgramOptions options) const {
    auto all = environment();
    all.insert(all.end(), options.environment.begin(), options.environment.end());
    options.environment = std::move(all);
    return options;
  }
  Finished holdfast(std::vector<std::string> arguments, ProgramOptions options = {}) const {
    return run(words(std::move(arguments)), with(std::move(options)));
  }

  // A duration as options take it, which is meant for an idle machine (support/timing.hpp).
  static std::string stretched(std::chrono::milliseconds idle) {
    return option_of(test::stretched(idle));
  }
  static std::string option_of(std::chrono::microseconds time) {
    return std::to_string(time / std::chrono::milliseconds(1)) + "ms";
  }
  // True once somebody waits for it.
  bool is_waited_for(const std::string& name) const {
    return eventually([&] { return number_in_status(name, "waiting_ms") >= 0; });
  }
  // True once it has been held for so long by the same holder.
  bool is_held_for(const std::string& name, std::chrono::microseconds time) const {
    return eventually(
        [&] { return std::chrono::milliseconds(number_in_status(name, "held_ms")) >= time; });
  }
  // The first one of that name; -1 if there is none.
  long long number_in_status(const std::string& name, const std::string& field) const {
    const auto status = holdfast({"status", "--json", "--", name}).out;
    const auto at = status.find('"' + field + "\":");
    return at == std::string::npos ? -1 : std::stoll(status.substr(at + field.size() + 3));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace holdfast::test
