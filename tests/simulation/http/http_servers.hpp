// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/command.hpp"
#include "simulation/environment.hpp"
#include "simulation/http/http_line.hpp"
#include "simulation/server.hpp"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace holdfast::simulation {

// A Holdfast server, or two of them behind a balancer, with one store behind both, and the `http:`
// stores of the processes: production code down to the bytes of a connection. Between them is a
// proxy that delays, buffers, repeats, and answers in the server's place.
//
// There is only so much of everything: a server answers one request after the other, a client has
// as many connections as its pool makes, and a line passes so many bytes in a second.
class HttpServers final : public Environment, public Subscribers, public simulated::Network {
 public:
  HttpServers(const Time& now, const Plan& plan, Dice& dice, Recorder& recorder);
  ~HttpServers() override;

  std::shared_ptr<Line> join(history::ProcessId number, std::shared_ptr<Process> process) override;
  void trouble_a_process(history::ProcessId process) override;
  void trouble_the_store() override;
  void crash(history::ProcessId process, Time noticed_after) override;
  void heal() override;
  Time away_for() const override;

  std::shared_ptr<simulated::Link> make_link(runtime::Runtime& runtime) override;
  bool hears(model::ProcessId stream) const override;

  // For the lines.
  struct HttpClient {
    std::shared_ptr<Process> process;
    std::shared_ptr<Line> line;
    std::size_t front = 0;  // the server that its connections lead to
    Time up_cut_until = 0;
    Time down_cut_until = 0;
    Time line_free_at = 0;
    std::vector<std::weak_ptr<HttpLine>> lines;
  };
  Time now() const { return now_; }
  const Plan& plan() const { return plan_; }
  Dice& dice() { return dice_; }
  HttpClient& client(history::ProcessId number) { return *clients_[number - 1]; }
  // How long so many bytes take after all that was sent before them.
  Time time_on_the_line(history::ProcessId number, std::size_t bytes);
  void knock(const std::shared_ptr<HttpLine>& line);
  void has_read(const std::shared_ptr<HttpLine>& line);

 private:
  using LinePtr = std::shared_ptr<HttpLine>;
  // One process that serves.
  struct Front {
    std::uint32_t run = 1;  // another one after a restart
    Time up_at = 0;
    Time hung_until = 0;
    Time free_at = 0;
  };
  // Where the waiters of a store are told.
  struct Stream {
    LinePtr line;
    std::set<model::RequestId> ears;
  };
  struct Answer {
    int status = 200;
    std::string body;
    bool is_ours = true;
  };

  Process& process(history::ProcessId number) override { return *client(number).process; }
  Front& front_of(const HttpLine& line) { return fronts_[clients_[line.number() - 1]->front]; }
  std::string id_of(const HttpLine& line);
  bool is_of_this_run(const LinePtr& line);
  void serve(const LinePtr& line, const std::string& request);
  void answer(const LinePtr& line, const Answer& answer, Time held_up_for);
  void open_stream(const LinePtr& line);
  void beat(const LinePtr& line);
  void write_line(const LinePtr& line, const std::string& text, Time held_up_for);
  Answer handle(const LinePtr& line, const std::string& request);
  Answer apply(const LinePtr& line, const std::string& body);
  Answer forget(const std::string& body);
  Answer pass_on(const LinePtr& line, const std::string& request);
  void tell_waiters(std::size_t lock);
  void give_back(std::size_t lock, const model::Message& message);
  void drop_streams_of_broken_lines();
  void reset_lines_of(history::ProcessId number);
  void restart(std::size_t front, Time away_for);
  void force_something();

  Server server_;
  std::vector<Front> fronts_;
  std::vector<std::unique_ptr<HttpClient>> clients_;
  std::map<std::uint32_t, Stream> streams_;
  std::uint32_t last_stream_ = 0;
  Time sent_ = 0;  // the request that is handled
  Time settled_at_ = 0;
};

}  // namespace holdfast::simulation
