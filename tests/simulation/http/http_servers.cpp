// SPDX-License-Identifier: Apache-2.0
#include "simulation/http/http_servers.hpp"

#include "backends/remote/protocol.hpp"
#include "backends/remote/remote_store.hpp"
#include "text/json_parse.hpp"
#include "text/url.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::simulation {

namespace {

namespace remote = backends::remote;

std::string chunk_of(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

}  // namespace

HttpServers::HttpServers(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder)
    : Environment(now, plan, dice, recorder),
      server_(now, plan, recorder, *this),
      fronts_(plan.http.fronts) {
  simulated::use(this);
}

HttpServers::~HttpServers() { simulated::use(nullptr); }

std::shared_ptr<Line> HttpServers::join(history::ProcessId number,
                                        std::shared_ptr<Process> process) {
  clients_.push_back(std::make_unique<HttpClient>());
  HttpClient& joined = *clients_.back();
  joined.process = process;
  joined.front = dice_.below(fronts_.size());
  auto options = remote::parse_options(text::parse_store_url("http://simulated").value()).value();
  auto store = remote::open_remote_store(std::move(options), joined.process).value();
  joined.line = std::make_shared<Line>(number, std::move(process), plan_, recorder_, store);
  return joined.line;
}

std::shared_ptr<simulated::Link> HttpServers::make_link(runtime::Runtime& runtime) {
  const auto owner = std::ranges::find_if(
      clients_, [&](const auto& each) { return each->process.get() == &runtime; });
  auto line = std::make_shared<HttpLine>(
      *this, static_cast<history::ProcessId>(owner - clients_.begin() + 1), *(*owner)->process);
  std::erase_if((*owner)->lines, [](const auto& each) { return each.expired(); });
  (*owner)->lines.push_back(line);
  return line;
}

Time HttpServers::time_on_the_line(history::ProcessId number, std::size_t bytes) {
  if (plan_.http.bytes_per_second == 0 || bytes == 0) return 0;
  Time& free_at = client(number).line_free_at;
  free_at =
      std::max(now_, free_at) + static_cast<Time>(bytes) * second / plan_.http.bytes_per_second;
  return free_at - now_;
}

std::string HttpServers::id_of(const HttpLine& line) {
  return fmt::format("front-{}-{}", clients_[line.number() - 1]->front, line.run);
}

bool HttpServers::is_of_this_run(const LinePtr& line) {
  const Front& front = front_of(*line);
  return front.up_at <= now_ && line->run == front.run;
}

void HttpServers::knock(const LinePtr& line) {
  const Front& front = front_of(*line);
  if (front.up_at > now_ || client(line->number()).line->is_gone()) return line->refuse();
  line->run = front.run;
  // The kernel accepts for a process that hangs.
  line->accept();
}

// One request after the other, by a server that takes its time for each.
void HttpServers::has_read(const LinePtr& line) {
  if (line->is_busy || line->is_broken()) return;
  std::string request = line->take_request();
  if (request.empty()) return;
  line->is_busy = true;
  if (dice_.one_in(faults_->lose_request)) {
    recorder_.fault(What::unreachable, line->number(), now_);
    return line->reset();
  }
  Front& front = front_of(*line);
  const Time start = std::max({now_, front.free_at, front.hung_until});
  front.free_at = start + plan_.http.service_time;
  outside.add(outside_time(front.free_at),
              [this, line, request = std::move(request)] { serve(line, request); });
}

void HttpServers::serve(const LinePtr& line, const std::string& request) {
  if (!is_of_this_run(line)) return line->reset();
  Front& front = front_of(*line);
  if (front.hung_until > now_) {
    outside.add(outside_time(front.hung_until), [this, line, request] { serve(line, request); });
    return;
  }
  if (request.starts_with("GET /v1/store/stream")) return open_stream(line);
  const Answer said = pass_on(line, request);
  if (dice_.one_in(faults_->lose_reply)) {
    recorder_.fault(What::unreachable, line->number(), now_);
    return line->reset();
  }
  Time held_up_for = 0;
  if (dice_.one_in(faults_->delay)) {
    held_up_for = dice_.mostly_short(2 * plan_.ttl);
    recorder_.fault(What::unreachable, line->number(), now_ + held_up_for).delays = true;
  }
  answer(line, said, held_up_for);
}

// What the proxy between makes of it.
HttpServers::Answer HttpServers::pass_on(const LinePtr& line, const std::string& request) {
  sent_ = line->sent;
  if (!dice_.one_in(plan_.http.answer_503) || is_healed()) {
    if (dice_.one_in(faults_->duplicate)) {
      recorder_.harmless_fault();
      const Time again = now_ + dice_.mostly_short(4 * plan_.ttl);
      outside.add(outside_time(again), [this, line, request, sent = sent_] {
        if (is_healed()) return;
        sent_ = sent;
        handle(line, request);
      });
    }
    return handle(line, request);
  }
  // It answers for the server, which may have got the request all the same.
  recorder_.fault(What::unreachable, line->number(), now_);
  if (dice_.one_in(2)) handle(line, request);
  return {.status = 503, .body = "upstream connect error", .is_ours = false};
}

void HttpServers::answer(const LinePtr& line, const Answer& answer, Time held_up_for) {
  std::string text =
      fmt::format("HTTP/1.1 {} Answer\r\nContent-Type: application/json\r\n", answer.status);
  if (answer.is_ours) text += fmt::format("{}: {}\r\n", remote::server_header, id_of(*line));
  text += fmt::format("Content-Length: {}\r\n\r\n{}", answer.body.size(), answer.body);
  line->send(std::move(text), held_up_for);
  line->is_busy = false;
  has_read(line);
}

void HttpServers::open_stream(const LinePtr& line) {
  drop_streams_of_broken_lines();
  line->stream = ++last_stream_;
  streams_[line->stream].line = line;
  line->send(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
                  "Transfer-Encoding: chunked\r\n{}: {}\r\n\r\n",
                  remote::server_header, id_of(*line)));
  write_line(line, fmt::format(R"({{"stream":"{}","server":"{}"}})", line->stream, id_of(*line)),
             0);
  beat(line);
}

void HttpServers::beat(const LinePtr& line) {
  const Time at = now_ + remote::heartbeat_interval.count() * microsecond;
  outside.add(outside_time(at), [this, line] {
    if (line->is_broken() || !is_of_this_run(line)) return;
    write_line(line, "{}", 0);
    beat(line);
  });
}

void HttpServers::write_line(const LinePtr& line, const std::string& text, Time held_up_for) {
  const Time hung = std::max<Time>(0, front_of(*line).hung_until - now_);
  line->send(chunk_of(text + "\n"), std::max(held_up_for, hung));
}

HttpServers::Answer HttpServers::handle(const LinePtr& line, const std::string& request) {
  if (request.starts_with("POST /v1/store/apply ")) return apply(line, body_of(request));
  if (request.starts_with("POST /v1/store/forget ")) return forget(body_of(request));
  remote::Info info{.server = id_of(*line), .describe = "a simulated store", .queues = plan_.store_queues};
  return {.body = boost::json::serialize(remote::to_json(info))};
}

HttpServers::Answer HttpServers::apply(const LinePtr& line, const std::string& body) {
  auto question = remote::parse_question(text::parse_json(body)->get_object()).value();
  auto& command = std::get<model::LockCommand>(question.command);
  auto* acquire = std::get_if<model::Acquire>(&command.verb);
  if (acquire != nullptr && acquire->wait && !question.stream.empty()) {
    const auto stream = streams_.find(static_cast<std::uint32_t>(std::stoul(question.stream)));
    if (stream == streams_.end() || stream->second.line->is_broken() ||
        !is_of_this_run(stream->second.line)) {
      return {.status = 404,
              .body = fmt::format(R"({{"code":"{}","detail":"it has ended"}})",
                                  remote::unknown_stream)};
    }
    stream->second.ears.insert(acquire->request);
    acquire->process = model::ProcessId{stream->first};
  }
  const std::size_t lock = server_.lock_named(question.name);
  const auto* renew = std::get_if<model::Renew>(&command.verb);
  const OpId op = acquire != nullptr ? recorder_.op_of(acquire->request)
                  : renew != nullptr ? recorder_.op_of(renew->request)
                                     : 0;
  const Time sent = op != 0 ? std::min(sent_, recorder_.asked_for(op)) : sent_;
  const Result<store::Reply> reply =
      server_.apply({.name = question.name, .command = question.command}, sent);
  tell_waiters(lock);
  if (!reply) {
    return {.status = 400,
            .body = fmt::format(R"({{"code":"{}","detail":"{}"}})", to_string(reply.error().code),
                                "refused")};
  }
  static_cast<void>(line);
  return {.body = boost::json::serialize(remote::to_json(*reply))};
}

HttpServers::Answer HttpServers::forget(const std::string& body) {
  const auto order = text::parse_json(body)->get_object();
  const auto number = std::stoul(std::string(order.at("stream").as_string()));
  const auto stream = streams_.find(static_cast<std::uint32_t>(number));
  if (stream != streams_.end()) {
    stream->second.ears.erase(
        model::RequestId{std::stoull(std::string(order.at("request").as_string()))});
  }
  return {.body = R"({"forgotten":true})"};
}

void HttpServers::tell_waiters(std::size_t lock) {
  const auto messages = server_.messages;
  for (const model::Message& message : messages) {
    const auto stream =
        streams_.find(static_cast<std::uint32_t>(std::to_underlying(message.process)));
    if (stream == streams_.end() || !stream->second.ears.contains(message.request)) {
      if (message.grant) give_back(lock, message);
      continue;
    }
    const LinePtr& line = stream->second.line;
    if (dice_.one_in(faults_->stop_at_grant)) {
      stop(line->number(), now_ + dice_.between(0, 3 * plan_.ttl));
    }
    // A proxy that buffers keeps it for a while.
    Time held_up_for = 0;
    if (dice_.one_in(faults_->lose_notice)) {
      held_up_for = dice_.mostly_short(2 * plan_.ttl);
      recorder_.fault(What::unreachable, line->number(), now_ + held_up_for).delays = true;
    }
    write_line(
        line,
        boost::json::serialize(remote::to_json(remote::Line{plan_.locks[lock].name, message})),
        held_up_for);
  }
}

// Nobody listens for it any more; it has not left the server.
void HttpServers::give_back(std::size_t lock, const model::Message& message) {
  const model::LockCommand release{plan_.locks[lock].spec,
                                   model::Release{message.owner, message.request, true}};
  outside.add(outside_time(now_ + microsecond), [this, lock, release, sent = now_] {
    const auto reply = server_.apply({.name = plan_.locks[lock].name, .command = release}, sent);
    if (reply) tell_waiters(lock);
  });
}

bool HttpServers::hears(model::ProcessId stream) const {
  const auto found = streams_.find(static_cast<std::uint32_t>(std::to_underlying(stream)));
  return found != streams_.end() && !found->second.line->is_broken();
}

void HttpServers::drop_streams_of_broken_lines() {
  std::erase_if(streams_, [](const auto& each) { return each.second.line->is_broken(); });
}

}  // namespace holdfast::simulation
