// SPDX-License-Identifier: Apache-2.0
#include "scenes.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX wants it declared

namespace payments {

namespace {

constexpr std::int64_t opening = 1000;

Shop open_shop(const Place& place) {
  auto client = holdfast::open(place.store());
  if (!client) throw std::runtime_error(client.error().message);
  return {std::move(*client), place.books(), place.layers};
}

// Another process that pays, and does what it is told in the middle of it.
class Child {
 public:
  Child(const Place& place, const Payment& payment, const std::string& what) {
    std::vector<std::string> words{place.program,
                                   "--folder",
                                   place.folder,
                                   "--pay",
                                   payment.order,
                                   payment.account,
                                   std::to_string(payment.amount),
                                   what};
    const auto leave_out = [&](bool is_in, const char* layer) {
      if (!is_in) words.insert(words.end(), {"--without", layer});
    };
    leave_out(place.layers.idempotency, "idempotency");
    leave_out(place.layers.lock, "lock");
    leave_out(place.layers.constraint, "constraint");
    leave_out(place.layers.fence, "fence");
    std::vector<char*> values;
    for (auto& word : words) values.push_back(word.data());
    values.push_back(nullptr);
    if (posix_spawn(&pid_, values[0], nullptr, nullptr, values.data(), environ) != 0) {
      throw std::runtime_error("cannot start " + place.program);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (is_over_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Until it has stopped or ended.
  void wait() {
    int status = 0;
    if (waitpid(pid_, &status, WUNTRACED) != pid_) throw std::runtime_error("waitpid failed");
    is_over_ = !WIFSTOPPED(status);
  }
  void go_on() const { kill(pid_, SIGCONT); }

 private:
  pid_t pid_ = 0;
  bool is_over_ = false;
};

// Lets everybody go on when as many have come, or after a moment.
class Meeting {
 public:
  explicit Meeting(unsigned people) : missing_(people) {}
  void come() {
    std::unique_lock lock(mutex_);
    if (missing_ > 0 && --missing_ == 0) all_here_.notify_all();
    all_here_.wait_for(lock, 300ms, [this] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  unsigned missing_;
};

void check_books(const Place& place, const std::vector<Payment>& payments, Scene& scene) {
  const Books books(place.books(), place.layers);
  std::int64_t due = 0;
  for (const auto& payment : payments) {
    due += payment.amount;
    const auto times = books.times_paid(payment.order);
    if (times == 1) continue;
    scene.mistakes.push_back(payment.order + " was paid " + std::to_string(times) + " times");
  }
  const auto& account = payments.front().account;
  const auto balance = books.balance(account);
  if (balance == opening - due) return;
  scene.mistakes.push_back(account + " has " + std::to_string(balance) + " instead of " +
                           std::to_string(opening - due));
}

void check_told(const Payment& payment, const Told& told, Scene& scene) {
  if (told.ok && told.text == "\"paid: " + payment.order + "\"") return;
  auto mistake = "the customer of " + payment.order + " was told: " + told.text;
  if (std::ranges::find(scene.mistakes, mistake) != scene.mistakes.end()) return;
  scene.mistakes.push_back(std::move(mistake));
}

}  // namespace

Scene duplicates(const Place& place) {
  Scene scene{"A customer presses the button eight times", {}, {}};
  const Payment payment{"order-11", "ann", 100};
  Books(place.books(), place.layers).open_account(payment.account, opening);
  constexpr std::size_t presses = 8;
  std::array<Told, presses> told;
  {
    std::vector<std::jthread> requests;
    for (auto& each : told) {
      requests.emplace_back([&] { each = open_shop(place).pay(payment); });
    }
  }
  const auto later = open_shop(place).pay(payment);
  for (const auto& each : told) check_told(payment, each, scene);
  check_told(payment, later, scene);
  const auto answered = std::ranges::count_if(told, [](const Told& each) { return each.ok; });
  scene.story = std::to_string(answered) + " of 8 requests at once got the receipt, and a retry " +
                (later.ok ? "got it again" : "was told: " + later.text);
  if (place.layers.idempotency) {
    const auto other = open_shop(place).pay({payment.order, payment.account, 999});
    scene.story += "; the same order with another amount: " + other.text;
    if (other.ok) scene.mistakes.emplace_back("another amount was accepted");
  }
  check_books(place, {payment}, scene);
  return scene;
}

Scene two_orders(const Place& place) {
  Scene scene{"Two orders are paid from one account at once", {}, {}};
  const std::array payments{Payment{"order-21", "bob", 100}, Payment{"order-22", "bob", 200}};
  Books(place.books(), place.layers).open_account("bob", opening);
  Meeting both_have_read(payments.size());
  std::array<Told, 2> told;
  {
    std::vector<std::jthread> requests;
    for (std::size_t at = 0; at < payments.size(); ++at) {
      requests.emplace_back([&, at] {
        // In the order of their fences, so that no fence has a reason to refuse one of them.
        if (at == 1) std::this_thread::sleep_for(50ms);
        told[at] = open_shop(place).pay(payments[at], {.after_reading = [&, at] {
                                          both_have_read.come();
                                          if (at == 1) std::this_thread::sleep_for(200ms);
                                        }});
      });
    }
  }
  for (std::size_t at = 0; at < payments.size(); ++at) check_told(payments[at], told[at], scene);
  scene.story = "each reads the balance and writes it back, less what it costs";
  check_books(place, {payments[0], payments[1]}, scene);
  return scene;
}

Scene a_pause(const Place& place) {
  Scene scene{"A process is stopped with the lock in its hand", {}, {}};
  const Payment slow{"order-31", "eve", 100};
  const Payment quick{"order-32", "eve", 200};
  Books(place.books(), place.layers).open_account("eve", opening);
  Child child(place, slow, "stop-after-reading");
  child.wait();
  const auto told = open_shop(place).pay(quick);
  check_told(quick, told, scene);
  child.go_on();
  child.wait();
  scene.story = "it had read the balance; another payment came; then it went on and wrote";
  check_books(place, {slow, quick}, scene);
  return scene;
}

Scene a_crash(const Place& place) {
  Scene scene{"A process is killed before it can answer", {}, {}};
  const Payment payment{"order-41", "dan", 100};
  Books(place.books(), place.layers).open_account("dan", opening);
  Child child(place, payment, "die-after-booking");
  child.wait();
  const auto told = open_shop(place).pay(payment);
  check_told(payment, told, scene);
  scene.story = "the payment was booked, nobody was told; the customer tries again";
  check_books(place, {payment}, scene);
  return scene;
}

int pay_and_stop(const Place& place, const Payment& payment, std::string_view what) {
  Interference interference;
  if (what == "stop-after-reading") interference.after_reading = [] { raise(SIGSTOP); };
  if (what == "die-after-booking") interference.after_booking = [] { raise(SIGKILL); };
  return open_shop(place).pay(payment, interference).ok ? 0 : 1;
}

}  // namespace payments
