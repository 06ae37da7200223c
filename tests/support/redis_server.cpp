// SPDX-License-Identifier: Apache-2.0
#include "support/redis_server.hpp"

#include "support/timing.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;

timeval to_timeval(std::chrono::microseconds time) {
  return {.tv_sec = time / 1s, .tv_usec = (time % 1s).count()};
}

std::vector<char*> to_words(std::vector<std::string>& line) {
  std::vector<char*> words;
  words.reserve(line.size() + 1);
  for (std::string& word : line) words.push_back(word.data());
  words.push_back(nullptr);
  return words;
}

// As the shell would find it; the name itself if it is nowhere.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return name;
}

const std::string& server_program() {
  static const std::string program = [] {
    const char* const wanted = std::getenv("HOLDFAST_REDIS_SERVER");
    return find_program(wanted != nullptr && *wanted != '\0' ? wanted : "redis-server");
  }();
  return program;
}

// "Redis server v=7.0.15 sha=..."
RedisVersion ask_version() {
  struct Close {
    void operator()(FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<FILE, Close> pipe(
      popen(("'" + server_program() + "' --version").c_str(), "r"));
  std::array<char, 256> text{};
  if (!pipe || std::fgets(text.data(), text.size(), pipe.get()) == nullptr) {
    throw std::runtime_error(server_program() + " --version says nothing");
  }
  std::istringstream words(text.data());
  std::string program;
  std::string version;
  words >> program;
  while (words >> version && !version.starts_with("v=")) {
  }
  RedisVersion found{
      .name = program + " " + version.substr(std::min<std::size_t>(2, version.size())),
      .is_valkey = program == "Valkey"};
  if (std::sscanf(version.c_str(), "v=%d.%d", &found.major, &found.minor) != 2) {
    throw std::runtime_error(server_program() + " --version says " + text.data());
  }
  return found;
}

// Before 7.0 DEBUG and every CONFIG SET are allowed, and a script's time limit has its old name.
std::vector<std::string> known_arguments(const std::vector<std::string>& arguments) {
  const auto is_new = [](const std::string& word) {
    return word == "--enable-debug-command" || word == "--enable-protected-configs" ||
           word == "--busy-reply-threshold";
  };
  // Most tests need not know the version.
  if (std::ranges::none_of(arguments, is_new) || redis_version().has(7, 0)) return arguments;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--busy-reply-threshold") {
      known.emplace_back("--lua-time-limit");
    } else if (is_new(arguments[i])) {
      ++i;
    } else {
      known.push_back(arguments[i]);
    }
  }
  return known;
}

bool is_serving(const std::string& unix_path) try {
  RawRedis client(unix_path, 5s);
  return !client.text({"PING"}).starts_with("LOADING");
} catch (const std::runtime_error&) {
  return false;
}

}  // namespace

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool got = fd >= 0 && bind(fd, plain, size) == 0 && getsockname(fd, plain, &size) == 0;
  const int reason = errno;
  if (fd >= 0) close(fd);
  if (!got) throw std::system_error(reason, std::generic_category(), "no free port");
  return ntohs(address.sin_port);
}

const RedisVersion& redis_version() {
  static const RedisVersion version = ask_version();
  return version;
}

RedisServer::RedisServer(std::vector<std::string> arguments, std::vector<std::string> environment)
    : arguments_(known_arguments(arguments)), environment_(std::move(environment)) {
  // Between finding a free port and the server's own bind somebody else may have taken it.
  constexpr int most_attempts = 5;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    port_ = free_port();
    if (start(10s)) return;
  }
  throw std::runtime_error("redis-server does not come up: " + log());
}

RedisServer::~RedisServer() { kill(); }

std::string RedisServer::url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

std::string RedisServer::log() const {
  std::ifstream file(folder() / "redis.log");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void RedisServer::stop() {
  if (pid_ > 0) ::kill(pid_, SIGSTOP);
}

void RedisServer::cont() {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
}

void RedisServer::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGCONT);
  ::kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
}

void RedisServer::restart() {
  kill();
  if (!start(10s)) throw std::runtime_error("redis-server does not come up again: " + log());
}

bool RedisServer::start(std::chrono::milliseconds patience) {
  std::vector<std::string> line;
  if (!environment_.empty()) {
    line.emplace_back("/usr/bin/env");
    line.insert(line.end(), environment_.begin(), environment_.end());
  }
  line.insert(line.end(), {server_program(), "--port", std::to_string(port_)});
  for (const char* word : {"--bind", "127.0.0.1", "-::1", "--save", "", "--appendonly", "no"}) {
    line.emplace_back(word);
  }
  line.insert(line.end(), {"--dir", folder().string(), "--unixsocket", unix_path()});
  line.insert(line.end(), arguments_.begin(), arguments_.end());
  // Nothing may be allocated after the fork: another thread may have been in malloc.
  const std::vector<char*> words = to_words(line);
  const std::string log_path = folder() / "redis.log";
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) become_server(words.data(), log_path.c_str(), parent);
  if (wait_for_answer(patience)) return true;
  kill();
  return false;
}

void RedisServer::become_server(char* const* words, const char* log_path, pid_t parent) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (getppid() != parent) _exit(1);
  const int log = ::open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  // An inherited socket would stay open after the test closed it.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(words[0], words);
  _exit(127);
}

bool RedisServer::wait_for_answer(std::chrono::milliseconds patience) {
  // Through the socket file, which is surely ours: on the port another server may answer. The
  // server opens the file after the port.
  bool serves = false;
  const auto is_decided = [&] {
    serves = is_serving(unix_path());
    return serves || has_ended();
  };
  eventually(is_decided, patience);
  return serves;
}

bool RedisServer::has_ended() {
  if (pid_ <= 0) return true;
  if (waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
  pid_ = 0;
  return true;
}

RawRedis::RawRedis(std::uint16_t port, std::chrono::milliseconds timeout)
    : context_(redisConnectWithTimeout("127.0.0.1", port, to_timeval(at_most(timeout)))) {
  check_and_bound(timeout);
}

RawRedis::RawRedis(const std::string& unix_path, std::chrono::milliseconds timeout)
    : context_(redisConnectUnixWithTimeout(unix_path.c_str(), to_timeval(at_most(timeout)))) {
  check_and_bound(timeout);
}

void RawRedis::check_and_bound(std::chrono::milliseconds timeout) {
  if (!context_) throw std::runtime_error("out of memory");
  if (context_->err != 0) throw std::runtime_error(context_->errstr);
  redisSetTimeout(context_.get(), to_timeval(at_most(timeout)));
}

RawRedis::Reply RawRedis::call(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  Reply reply(static_cast<redisReply*>(redisCommandArgv(
      context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data())));
  if (!reply) throw std::runtime_error(context_->errstr);
  return reply;
}

std::string RawRedis::text(const std::vector<std::string>& words) {
  const Reply reply = call(words);
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  if (reply->str == nullptr) return {};
  return std::string(net::resp::text_of(*reply));
}

long long RawRedis::integer(const std::vector<std::string>& words) {
  const Reply reply = call(words);
  if (reply->type == REDIS_REPLY_INTEGER) return reply->integer;
  const bool has_text = reply->str != nullptr;
  throw std::runtime_error("not a number: " + (has_text ? std::string(reply->str) : "nothing"));
}

void RawRedis::send(const std::string& command) {
  redisAppendFormattedCommand(context_.get(), command.data(), command.size());
}

RawRedis::Reply RawRedis::receive() {
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
    throw std::runtime_error(context_->errstr);
  }
  return Reply(static_cast<redisReply*>(reply));
}

}  // namespace holdfast::test
