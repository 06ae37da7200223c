// SPDX-License-Identifier: Apache-2.0
#include "upgrade/recording.hpp"

#include "backends/remote/protocol.hpp"
#include "faults_redis/wall_clock.hpp"
#include "support/temporary_folder.hpp"
#include "support/timing.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <lmdb.h>

#include <cctype>
#include <fstream>
#include <stdexcept>

namespace holdfast::upgrade {

namespace {

using namespace std::chrono_literals;
using test::RawRedis;
using test::RedisServer;

constexpr const char* names[] = {"alone",     "renewed",   "queue", "readers",
                                 "semaphore", "reentrant", "leader"};
constexpr AcquireOptions anns{.ttl = 1h, .owner = "ann", .note = "of a recording"};

void must(int lmdb_code, const char* call) {
  if (lmdb_code != 0) throw std::runtime_error(fmt::format("{}: {}", call, lmdb_code));
}

std::string_view view_of(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

boost::json::array words(const std::vector<std::string>& command) {
  boost::json::array all;
  for (const std::string& word : command) all.emplace_back(escaped(word));
  return all;
}

// The commands that make a key what it is now.
std::vector<std::vector<std::string>> commands_for(RawRedis& raw, const std::string& key) {
  std::vector<std::vector<std::string>> commands;
  const std::string type = raw.text({"TYPE", key});
  if (type == "string") {
    commands.push_back({"SET", key, raw.text({"GET", key})});
  } else {
    const bool is_hash = type == "hash";
    const auto all =
        is_hash ? raw.call({"HGETALL", key}) : raw.call({"ZRANGE", key, "0", "-1", "WITHSCORES"});
    std::vector<std::string> command = {is_hash ? "HSET" : "ZADD", key};
    for (std::size_t i = 0; i + 1 < all->elements; i += 2) {
      const std::string first(net::resp::text_of(*all->element[i]));
      const std::string second(net::resp::text_of(*all->element[i + 1]));
      command.push_back(is_hash ? first : second);
      command.push_back(is_hash ? second : first);
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

void record_messages(RedisServer& server, std::vector<Line>& recording) {
  RawRedis listener(server);
  listener.call({"PSUBSCRIBE", "hf:*"});
  const auto client = open(server.url()).value();
  const auto other = open(server.url()).value();
  for (const auto order : {Order::fifo, Order::barging}) {
    auto first = client.mutex("told", order).acquire({.ttl = 10s}).value();
    std::jthread waiter(
        [&] { (void)other.mutex("told", order).acquire({.ttl = 10s, .wait = 30s}); });
    if (!test::eventually([&] { return client.inspect("told")->waiters.size() == 1; })) {
      throw std::runtime_error("nobody waits");
    }
    (void)first.release();
    const char first_letter = order == Order::fifo ? 'g' : 'h';
    for (bool is_found = false; !is_found;) {
      const auto message = listener.receive();
      const auto payload = net::resp::text_of(*message->element[3]);
      is_found = payload.starts_with(first_letter);
      if (is_found) recording.push_back({{"what", "message"}, {"payload", escaped(payload)}});
    }
  }
}

}  // namespace

std::vector<Line> read_recording(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    auto parsed = text::parse_json(text);
    if (!parsed) throw std::runtime_error(file.string() + ": " + parsed.error().message);
    lines.push_back(parsed->get_object());
  }
  if (lines.empty()) throw std::runtime_error(file.string() + " has no lines");
  return lines;
}

std::vector<Line> lines_about(const std::vector<Line>& recording, std::string_view what) {
  std::vector<Line> found;
  for (const Line& line : recording) {
    if (line.at("what").as_string() == what) found.push_back(line);
  }
  return found;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code >= ' ' && code < 0x7f && byte != '\\') {
      text += byte;
    } else {
      text += fmt::format("\\x{:02x}", code);
    }
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const bool is_escape = text.starts_with("\\x");
    bytes += is_escape ? static_cast<char>(std::stoi(std::string(text.substr(2, 2)), nullptr, 16))
                       : text.front();
    text.remove_prefix(is_escape ? 4 : 1);
  }
  return bytes;
}

std::string bytes_in(const Line& line, std::string_view field) {
  return unescaped(line.at(field).as_string());
}

template <typename Ask>
void Shapes::hold(Ask ask) {
  Result<Lease> lease = ask();
  if (!lease) throw std::runtime_error(lease.error().message);
  leases_.push_back(std::move(*lease));
}

template <typename Ask>
void Shapes::wait(const std::string& name, Ask ask) {
  const auto waiters = [&] { return client_.inspect(name)->waiters.size(); };
  const auto before = waiters();
  waiters_.emplace_back([this, ask] { (void)ask(stop_.get_token()); });
  if (!test::eventually([&] { return waiters() > before; })) throw std::runtime_error(name);
}

Shapes::Shapes(const std::string& url) : client_(open(url).value()), other_(open(url).value()) {
  constexpr AcquireOptions waits{.ttl = 1h, .wait = 10min};
  hold([&] { return client_.mutex("alone").acquire(anns); });
  hold([&] { return client_.mutex("renewed").acquire(anns); });
  if (!leases_.back().extend(1h)) throw std::runtime_error("it was not renewed");
  hold([&] { return client_.mutex("queue").acquire(anns); });
  for (int i = 0; i < 2; ++i) {
    wait("queue", [&](auto stop) { return other_.mutex("queue").acquire(waits, stop); });
  }
  hold([&] { return client_.read_write("readers").acquire_shared(anns); });
  hold([&] { return other_.read_write("readers").acquire_shared({.ttl = 1h}); });
  wait("readers", [&](auto stop) { return other_.read_write("readers").acquire(waits, stop); });
  AcquireOptions two = anns;
  two.permits = 2;
  hold([&] { return client_.semaphore("semaphore", 3).acquire(two); });
  wait("semaphore", [&](auto stop) {
    AcquireOptions all = waits;
    all.permits = 3;
    return other_.semaphore("semaphore", 3).acquire(all, stop);
  });
  for (int i = 0; i < 2; ++i) hold([&] { return client_.reentrant("reentrant").acquire(anns); });
  hold([&] { return client_.election("leader").campaign("host-1:4000", anns); });
}

Shapes::~Shapes() {
  stop_.request_stop();
  waiters_.clear();
}

std::vector<Line> Shapes::describe(std::string_view what) const {
  std::vector<Line> lines;
  for (const char* const name : names) {
    const auto view = client_.inspect(name).value();
    boost::json::array fences;
    for (const auto& holder : view.holders) fences.emplace_back(holder.fence);
    lines.push_back({{"what", what},
                     {"name", name},
                     {"kind", static_cast<unsigned>(view.kind)},
                     {"fences", std::move(fences)},
                     {"waiters", view.waiters.size()}});
  }
  return lines;
}

void record_redis(std::vector<Line>& recording) {
  RedisServer server;
  const Shapes shapes(server.url());
  RawRedis raw(server);
  // Nothing changes while it is written down.
  raw.text({"CLIENT", "PAUSE", "10000", "WRITE"});
  recording.push_back({{"what", "redis_time"}, {"us", faults::wall_time(server).count()}});
  const auto keys = raw.call({"KEYS", "hf:*"});
  for (std::size_t i = 0; i < keys->elements; ++i) {
    const std::string key(net::resp::text_of(*keys->element[i]));
    auto commands = commands_for(raw, key);
    const long long left_ms = raw.integer({"PTTL", key});
    if (left_ms > 0) {
      const auto end = faults::wall_time(server) / 1ms + left_ms;
      commands.push_back({"PEXPIREAT", key, std::to_string(end)});
    }
    for (const auto& command : commands) {
      recording.push_back({{"what", "redis"}, {"command", words(command)}});
    }
  }
  raw.text({"CLIENT", "UNPAUSE"});
  for (auto& line : shapes.describe("redis_lock")) recording.push_back(std::move(line));
  record_messages(server, recording);
}

void record_file(std::vector<Line>& recording) {
  const test::TemporaryFolder folder;
  const Shapes shapes("file:" + folder.path().string());
  std::filesystem::path database;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".mdb") database = entry.path();
  }
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_dbi dbi = 0;
  MDB_cursor* cursor = nullptr;
  must(mdb_env_create(&env), "create");
  must(mdb_env_open(env, database.c_str(), MDB_NOSUBDIR | MDB_NOLOCK | MDB_RDONLY, 0600), "open");
  must(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
  must(mdb_dbi_open(txn, nullptr, 0, &dbi), "dbi");
  must(mdb_cursor_open(txn, dbi, &cursor), "cursor");
  MDB_val key{};
  MDB_val value{};
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
    recording.push_back(
        {{"what", "file"}, {"key", escaped(view_of(key))}, {"value", escaped(view_of(value))}});
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(txn);
  mdb_env_close(env);
  for (auto& line : shapes.describe("file_lock")) recording.push_back(std::move(line));
}

void record_http(std::vector<Line>& recording) {
  using namespace backends::remote;
  using model::RequestId;
  const auto name = LockName::make("orders:42").value();
  const auto ann = OwnerId::make("ann").value();
  const auto process = std::make_shared<const ProcessInfo>(ProcessInfo{"host", "prog", 42, 1234});
  const auto metadata = std::make_shared<const Metadata>(Metadata{process, "a.cpp:1", "note", "v"});
  const auto add = [&](const char* what, Line json) {
    recording.push_back({{"what", what}, {"json", std::move(json)}});
  };
  const auto ask = [&](model::Command command) {
    add("http_question", to_json(Question{name, std::move(command), "stream-1", 250ms}));
  };
  const auto lock = [&](auto verb) {
    ask(model::LockCommand{model::LockSpec::semaphore(7, Order::fifo), std::move(verb)});
  };
  lock(model::Acquire{.owner = ann,
                      .request = RequestId{7},
                      .permits = 3,
                      .ttl = 30s,
                      .wait = true,
                      .place = 8,
                      .claim = 500ms,
                      .converts = RequestId{9},
                      .known = 10,
                      .metadata = metadata});
  lock(model::Renew{ann, RequestId{7}, 30s});
  lock(model::Release{ann, RequestId{7}, true});
  lock(model::Inspect{ann});
  lock(model::ForceRelease{.up_to = 7, .source = "execution-7"});
  ask(model::GuardCommand{1, 2h});
  const auto answer = [&](model::LockOutcome outcome) {
    add("http_reply", to_json(store::Reply{model::StoreTime(1s), std::move(outcome)}));
  };
  LockView view{.name = "orders:42", .kind = Kind::read_write, .capacity = all_permits};
  view.holders.push_back({.fence = 5, .party = 6, .permits = 1, .metadata = metadata});
  view.waiters.push_back({.party = 7, .permits = all_permits, .waiting_for = 8us});
  answer(model::Granted{5, 9us});
  answer(model::Busy{1us, 1, view.holders, 3, 5});
  answer(model::Queued{8, 3, 7ms});
  answer(model::Released{true});
  answer(model::NotHeld{});
  answer(model::NotOwner{});
  answer(model::Forced{8, 2});
  answer(model::Seen{view, model::Granted{5, 9us}});
  answer(model::Refused{{Errc::spec_mismatch, "it is a semaphore"}});
  add("http_line",
      to_json(backends::remote::Line{name,
                                     {.owner = ann,
                                      .request = RequestId{7},
                                      .grant = model::Grant{5, model::StoreTime(5us), 6us}}}));
  add("http_info", to_json(Info{.server = "abc", .describe = "memory:", .wall_us = 1}));
}

}  // namespace holdfast::upgrade
