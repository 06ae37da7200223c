// SPDX-License-Identifier: Apache-2.0
#include <holdfast/client.hpp>
#include <holdfast/locks.hpp>

#include "client/lock_handle.hpp"

#include <algorithm>
#include <system_error>

namespace holdfast {

namespace {

// lock() has no limit, but a wait has one: whoever waits longer than a day learns it.
constexpr AcquireOptions for_ever{.wait = max_wait};

AcquireOptions waiting(Duration wait) {
  return {.wait = std::clamp(wait, Duration::zero(), max_wait)};
}

bool is_refusal(Errc code) { return code == Errc::busy || code == Errc::timed_out; }

[[noreturn]] void throw_error(const Error& error) {
  throw std::system_error(make_error_code(error.code), error.message);
}

// A thread that has locked a reentrant mutex re-enters it, as it would a std::recursive_mutex.
Result<Lease> lock_as_this_thread(client::LockHandle& handle, AcquireOptions options) {
  const Lease* mine = handle.kind() == Kind::reentrant ? handle.of_this_thread() : nullptr;
  if (mine) options.owner = mine->owner().view();
  return handle.acquire(options, {}, std::source_location::current());
}

bool lock_within(client::LockHandle& handle, const AcquireOptions& options) {
  auto lease = lock_as_this_thread(handle, options);
  if (lease) {
    handle.keep(std::move(*lease));
    return true;
  }
  if (!is_refusal(lease.error().code)) throw_error(lease.error());
  return false;
}

void lock_or_throw(client::LockHandle& handle) {
  auto lease = lock_as_this_thread(handle, for_ever);
  if (!lease) throw_error(lease.error());
  handle.keep(std::move(*lease));
}

void unlock_or_throw(client::LockHandle& handle) {
  if (handle.give_back()) return;
  throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                          "unlock: this thread did not lock");
}

}  // namespace

Result<Lease> Lockable::acquire(AcquireOptions options, std::stop_token stop,
                                std::source_location where) {
  return handle_->acquire(options, std::move(stop), where);
}

Result<Lease> Lockable::try_acquire(AcquireOptions options, std::source_location where) {
  options.wait = Duration::zero();
  return handle_->acquire(options, {}, where);
}

Task<Result<Lease>> Lockable::async_acquire(AcquireOptions options, std::stop_token stop,
                                            std::source_location where) {
  return handle_->async_acquire(options, std::move(stop), where);
}

void Lockable::lock() { lock_or_throw(*handle_); }
bool Lockable::try_lock() { return lock_within(*handle_, {}); }
void Lockable::unlock() { unlock_or_throw(*handle_); }
bool Lockable::try_lock_within(Duration wait) { return lock_within(*handle_, waiting(wait)); }
Lease* Lockable::held() { return handle_->of_this_thread(); }

Result<Lease> ReadWrite::acquire_shared(AcquireOptions options, std::stop_token stop,
                                        std::source_location where) {
  return read_->acquire(options, std::move(stop), where);
}

Task<Result<Lease>> ReadWrite::async_acquire_shared(AcquireOptions options, std::stop_token stop,
                                                    std::source_location where) {
  return read_->async_acquire(options, std::move(stop), where);
}

void ReadWrite::lock_shared() { lock_or_throw(*read_); }
bool ReadWrite::try_lock_shared() { return lock_within(*read_, {}); }
void ReadWrite::unlock_shared() { unlock_or_throw(*read_); }
bool ReadWrite::try_lock_shared_within(Duration wait) { return lock_within(*read_, waiting(wait)); }

Result<Lease> Election::campaign(std::string_view value, AcquireOptions options,
                                 std::stop_token stop, std::source_location where) {
  return handle_->acquire(options, std::move(stop), where, value);
}

Result<std::optional<std::string>> Election::leader() {
  if (!handle_->name()) return std::unexpected(handle_->name().error());
  auto view = Client(handle_->core()).inspect(handle_->name()->str());
  if (!view) return std::unexpected(std::move(view.error()));
  if (view->holders.empty() || !view->holders.front().metadata) return std::nullopt;
  return view->holders.front().metadata->value;
}

}  // namespace holdfast
