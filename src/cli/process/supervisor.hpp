// SPDX-License-Identifier: Apache-2.0
//
// Runs a command under leases: forwards signals, moves the terminal, and ends the command before
// its leases do.
#pragma once

#include <holdfast/lease.hpp>

#include "cli/process/child.hpp"
#include "cli/process/find_program.hpp"
#include "cli/process/guard.hpp"
#include "cli/process/ladder.hpp"
#include "cli/process/signals.hpp"
#include "cli/process/terminal.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// What a command runs under, and must not outlive. Copied freely; the calls stay good as long as
// what they speak of.
struct Hold {
  std::function<Duration()> remaining;  // zero once it is lost
  // From any thread, once, when it is lost; an empty callback listens no longer.
  std::function<void(std::function<void(const Error&)>)> on_lost;
};

// How the command ended.
struct Ending {
  int exit_code = 0;          // its own, or 128 + n
  std::optional<int> signal;  // n
  bool lost = false;          // a lease was lost, or about to be, while it ran
  std::optional<int> told;    // the last signal that was to end it, passed on by us
};

class Supervisor {
 public:
  struct Options {
    LadderOptions ladder;
    bool keep_child = false;  // it survives if this program is killed
    // Called once, when a lease is lost or the ladder starts, with a sentence that says why.
    std::function<void(std::string)> on_loss;
  };

  Supervisor(const Signals& signals, Terminal& terminal, Options options);
  ~Supervisor();

  // From its start to its end. The leases stay the caller's to release.
  std::expected<Ending, NoProgram> run(Launch launch, std::span<Lease> leases);
  std::expected<Ending, NoProgram> run(Launch launch, std::vector<Hold> holds);

 private:
  class Loss;

  int start(Launch launch);
  void listen_for_loss();
  void look();
  void observe(LocalTime now);
  void send(Ladder::Rung rung) const;
  void report_loss(const std::string& sentence);
  void renew_guard();
  void wait_for_events() const;
  void handle_signals();
  void handle_stop();
  void suspend_with_command(int signal);
  void resume_command();
  void tell_command(int signal) const;
  bool has_ended() const;
  Ending finish();

  const Signals& signals_;
  Terminal& terminal_;
  Options options_;
  Ladder ladder_;
  std::vector<Hold> holds_;
  std::shared_ptr<Loss> loss_;
  std::optional<Guard> guard_;
  pid_t child_ = 0;
  int timer_ = -1;
  LocalTime valid_until_{};
  bool lost_ = false;
  bool reported_ = false;
  std::optional<int> told_;
};

}  // namespace holdfast::cli
