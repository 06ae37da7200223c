// SPDX-License-Identifier: Apache-2.0
#include "faults_redis/puppet.hpp"

#include "faults_redis/stall_watch.hpp"
#include "support/timing.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

namespace holdfast::faults {

namespace {

void make_pipe(int* ends) {
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
}

}  // namespace

Puppet::Puppet(SharedLog& log, ProcessId process) : log_(log), process_(process) {
  make_pipe(orders_);
  make_pipe(answers_);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  _exit(obey());
}

int Puppet::obey() const {
  // Sees that the process was stopped, too, and knows when it could tell again what it lost.
  std::optional<StallWatch> stalls;
  std::optional<Caller> caller;
  std::optional<Caller::Hold> hold;
  pollfd told{orders_[0], POLLIN, 0};
  while (true) {
    // Renewals are written down by whoever looks.
    while (poll(&told, 1, hold ? 10 : -1) == 0) caller->look(*hold);
    Order order;
    Answer answer;
    if (read(orders_[0], &order, sizeof order) != sizeof order) return 0;
    switch (order.verb) {
      case Verb::open: {
        stalls.emplace(log_, process_, process_);
        auto client = holdfast::open(order.url);
        answer.good = client.has_value();
        if (client) caller.emplace(std::move(*client), log_, process_);
        break;
      }
      case Verb::acquire: {
        auto got = caller->acquire({.lock = {.name = order.name},
                                    .ttl = Micros(order.ttl_us),
                                    .wait = Micros(order.wait_us)});
        answer.good = got.has_value();
        if (got) hold.emplace(std::move(*got));
        break;
      }
      // Nothing stands between this and what was asked for before.
      case Verb::is_valid: answer.good = hold && hold->lease.valid(); break;
      case Verb::release:
        answer.good = hold && caller->release(*hold) == Released::released;
        hold.reset();
        break;
      case Verb::end: return 0;
    }
    answer.at = log_.now();
    if (write(answers_[1], &answer, sizeof answer) != sizeof answer) return 1;
  }
}

void Puppet::open(const std::string& url) {
  Order order{.verb = Verb::open};
  url.copy(order.url, sizeof order.url - 1);
  tell(order);
}

void Puppet::acquire(history::NameId name, Micros ttl, Micros wait) {
  tell({.verb = Verb::acquire, .name = name, .ttl_us = ttl.count(), .wait_us = wait.count()});
}

void Puppet::tell(const Order& order) const {
  if (write(orders_[1], &order, sizeof order) != sizeof order) {
    throw std::system_error(errno, std::generic_category(), "write");
  }
}

std::optional<Puppet::Answer> Puppet::hear(Micros patience) const {
  pollfd ready{answers_[0], POLLIN, 0};
  Answer answer;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(test::at_most(patience)).count();
  if (poll(&ready, 1, static_cast<int>(ms)) != 1) return std::nullopt;
  if (read(answers_[0], &answer, sizeof answer) != sizeof answer) return std::nullopt;
  return answer;
}

bool Puppet::hears_good(Micros patience) const {
  const auto answer = hear(patience);
  return answer && answer->good;
}

void Puppet::stop() {
  stopped_at_ = log_.now();
  ::kill(pid_, SIGSTOP);
  waitpid(pid_, nullptr, WUNTRACED);
}

void Puppet::cont() {
  ::kill(pid_, SIGCONT);
  log_.fault(What::stopped, process_, stopped_at_, log_.now());
}

void Puppet::kill() {
  if (pid_ <= 0) return;
  const Time begin = log_.now();
  ::kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
  log_.fault(What::stopped, process_, begin, history::for_ever);
  for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) close(fd);
}

}  // namespace holdfast::faults
