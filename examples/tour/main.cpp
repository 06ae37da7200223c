// SPDX-License-Identifier: Apache-2.0
//
// A tour in the terminal: `make tour`, or `tour --quick` for the hurried. Several processes of this
// program contend for one lock in a store of their own, in a temporary folder.
#include "scenes.hpp"
#include "worker.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = std::filesystem::temp_directory_path() / "holdfast-tour-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
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

void end_early_on_ctrl_c() {
  struct sigaction action = {};
  action.sa_handler = [](int) { tour::interrupted = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int guide(const tour::Pace& pace) {
  end_early_on_ctrl_c();
  const TemporaryFolder folder;
  const std::string store = "file:" + folder.path();
  auto client = holdfast::open(store);
  if (!client) throw std::runtime_error(client.error().message);
  tour::Tour tour(std::move(*client), store, pace);
  tour.five_want_one();
  tour.a_holder_is_killed();
  tour.a_holder_is_paused();
  return tour.sum_up() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int work(const std::vector<std::string>& words) {
  const tour::Job job{.name = words.at(2),
                      .rounds = std::stoi(words.at(3)),
                      .hold = std::chrono::milliseconds(std::stol(words.at(4))),
                      .ttl = std::chrono::milliseconds(std::stol(words.at(5)))};
  return tour::run_worker(words.at(1), job);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) return guide({});
  if (words.front() == "--quick") return guide(tour::Pace::quick());
  if (words.front() == "--worker") return work(words);
  std::cerr << "usage: tour [--quick]\n";
  return 64;
} catch (const std::exception& failure) {
  std::cerr << "tour: " << failure.what() << '\n';
  return EXIT_FAILURE;
}
