// SPDX-License-Identifier: Apache-2.0
#include "backends/file/environment.hpp"

#include "backends/file/listing.hpp"
#include "backends/file/places.hpp"
#include "backends/file/reboot.hpp"
#include "backends/file/slots.hpp"
#include "runtime/fork.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::backends::file {

namespace {

constexpr std::chrono::seconds open_patience{2};
// So often the files are looked at whether they are still there. At every step it would cost a
// tenth of the step.
constexpr std::chrono::milliseconds look_every{100};

model::StoreTime store_time(runtime::LocalTime now) {
  return model::StoreTime(std::chrono::floor<Micros>(now.time_since_epoch()));
}

BootId boot_id_of(std::string_view text) {
  BootId id{};
  std::copy_n(text.begin(), std::min(text.size(), id.size()), id.begin());
  return id;
}

// The sentence of a part, with the store's name in front unless it is there already.
Error named(Error error, const std::string& store) {
  if (!error.message.starts_with("file:"))
    error.message = fmt::format("{}: {}", store, error.message);
  return error;
}

}  // namespace

Result<std::shared_ptr<Environment>> Environment::open(EnvironmentOptions options, Folder folder,
                                                       const runtime::Runtime& runtime) {
  if (!options.boot_clock) {
    auto offset = boot_clock_offset();
    if (!offset) return std::unexpected(std::move(offset.error()));
    options.boot_clock = *offset;
  }
  auto wake = WakeFile::open(folder, {options.boot_id, *options.boot_clock});
  if (!wake) return std::unexpected(std::move(wake.error()));
  if (!options.mapped_writes) {
    options.mapped_writes = !options.durable && folder.keeps_allocated_space();
  }
  std::shared_ptr<Environment> environment(
      new Environment(std::move(options), std::move(folder), std::move(*wake)));
  if (auto opened = environment->open_database(runtime); !opened) {
    return std::unexpected(named(std::move(opened.error()), environment->describe()));
  }
  return environment;
}

Environment::Environment(EnvironmentOptions options, Folder folder, WakeFile wake)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      wake_(std::move(wake)),
      generation_(runtime::fork_generation()) {}

Environment::~Environment() {
  if (!is_of_a_parent()) return;
  // The parent goes on using what this memory was copied from.
  [[maybe_unused]] const Database* of_the_parent = database_.release();
}

Result<void> Environment::open_database(const runtime::Runtime& runtime) {
  const auto lock = lock_writer(wake_, runtime, {.deadline = runtime.now() + open_patience});
  if (!lock) return std::unexpected(lock.error());
  // Two databases in one folder would be two locks of the same name.
  const std::string volatile_name = database_name(options_.boot_id);
  const std::string durable_name(durable_database_name);
  const std::string& other = options_.durable ? volatile_name : durable_name;
  if (folder_.has(other)) {
    return folder_.failure(
        Errc::bad_input,
        fmt::format("durable: must be {} here, since the folder has {}; or choose another folder",
                    options_.durable ? "no" : "yes", other));
  }
  auto database = Database::open(folder_, {.name = options_.durable ? durable_name : volatile_name,
                                           .boot_id = boot_id_of(options_.boot_id),
                                           .durable = options_.durable,
                                           .mapped_writes = *options_.mapped_writes,
                                           .initial_bytes = options_.initial_bytes,
                                           .max_bytes = options_.max_bytes});
  if (!database) return std::unexpected(std::move(database.error()));
  database_ = std::move(*database);
  if (auto taken = take_over_fences(*database_, wake_.layout()); !taken) return taken;
  if (!options_.durable) return {};
  return recover_from_reboot(*database_, boot_id_of(options_.boot_id),
                             store_time(lock->entered_at()));
}

Result<WriterLock> Environment::enter(const runtime::Runtime& runtime, const Patience& patience) {
  if (auto ours = check_process(); !ours) return std::unexpected(std::move(ours.error()));
  auto lock = lock_writer(wake_, runtime, patience);
  if (!lock) return std::unexpected(named(std::move(lock.error()), describe()));
  if (auto there = check_files(lock->entered_at()); !there) return std::unexpected(there.error());
  return lock;
}

Result<std::optional<WriterLock>> Environment::enter_within(std::chrono::nanoseconds slice,
                                                            const runtime::Runtime& runtime) {
  if (auto ours = check_process(); !ours) return std::unexpected(std::move(ours.error()));
  auto lock = WriterLock::try_for(wake_, slice, runtime);
  if (!lock) return lock;
  if (auto there = check_files(lock->entered_at()); !there) return std::unexpected(there.error());
  return lock;
}

void Environment::run(WriterLock lock, std::span<PendingStep* const> steps) {
  WakeLayout& wake = wake_.layout();
  run_steps(*database_, wake_, steps, store_time(lock.entered_at()));
  for (PendingStep* step : steps) {
    auto& reply = step->reply;
    if (!reply) reply = std::unexpected(named(std::move(reply.error()), describe()));
    for (const auto& message : step->messages) {
      send(wake, message.process, {message.request, message.grant});
    }
  }
  lock.unlock();
  for (const PendingStep* step : steps) {
    for (const auto& message : step->messages) wake_up(wake, message.process);
  }
}

bool Environment::run_if_it_changes_nothing(WriterLock lock, PendingStep& step) {
  return file::run_if_it_changes_nothing(*database_, wake_, step, store_time(lock.entered_at()));
}

Result<LockPage> Environment::list(WriterLock lock, const store::ListRequest& request) {
  auto page = list_locks(*database_, request, store_time(lock.entered_at()));
  lock.unlock();
  if (!page) return std::unexpected(named(std::move(page.error()), describe()));
  return page;
}

Result<void> Environment::check_process() const {
  if (!is_of_a_parent()) return {};
  return failure(Errc::unavailable, "opened before fork(); open the store again in the child");
}

Result<void> Environment::check_files(runtime::LocalTime now) {
  if (now < look_again_at_) return {};
  if (is_deleted()) return files_were_deleted();
  if (!wake_.proves_our_life()) {
    return failure(Errc::unavailable,
                   "its files were closed by another part of this program; open the store again");
  }
  look_again_at_ = now + look_every;
  return {};
}

std::unexpected<Error> Environment::files_were_deleted() const {
  return failure(Errc::unavailable, "its files were deleted; open the store again");
}

bool Environment::is_deleted() const { return wake_.is_deleted() || database_->is_deleted(); }

bool Environment::is_of_a_parent() const noexcept {
  return generation_ != runtime::fork_generation();
}

std::string Environment::describe() const {
  return fmt::format("file:{}{}", folder_.path(), options_.durable ? "?durable=yes" : "");
}

std::unexpected<Error> Environment::failure(Errc code, std::string_view what) const {
  return fail(code, fmt::format("{}: {}", describe(), what));
}

}  // namespace holdfast::backends::file
