// SPDX-License-Identifier: Apache-2.0
#include "net/http/client_stream.hpp"

#include "runtime/fork.hpp"

#include <fmt/format.h>

#include <atomic>

namespace holdfast::net::http {

class ClientStream::Shared : public std::enable_shared_from_this<ClientStream::Shared> {
 public:
  Shared(std::shared_ptr<runtime::Runtime> runtime, const Origin& origin, std::string bytes,
         StreamEvents events)
      : runtime_(std::move(runtime)),
        peer_(origin.describe()),
        max_body_bytes_(origin.max_body_bytes),
        bytes_(std::move(bytes)),
        events_(std::move(events)),
        connection_(std::make_shared<ClientConnection>(runtime_, origin)) {}

  void start();
  void let_go();

 private:
  ResponseReader::Options reader_options();
  void send();
  void ended(ClientConnection::End end);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::string peer_;
  const std::size_t max_body_bytes_;
  const std::string bytes_;
  const StreamEvents events_;
  const std::shared_ptr<ClientConnection> connection_;
  const std::uint32_t generation_ = runtime::fork_generation();
  std::shared_ptr<Shared> kept_;  // in a forked child
  std::atomic<bool> is_let_go_{false};
};

void ClientStream::Shared::start() {
  if (is_let_go_) return;
  connection_->open([self = shared_from_this()](Result<void> opened) {
    if (self->is_let_go_) return;
    if (opened) return self->send();
    self->ended({.failure = opened.error().message, .was_sent = false});
  });
}

ResponseReader::Options ClientStream::Shared::reader_options() {
  ResponseReader::Options options;
  options.max_body_bytes = max_body_bytes_;
  options.on_head = [weak = weak_from_this()](const ClientResponse& head) {
    const auto self = weak.lock();
    if (self && !self->is_let_go_ && self->events_.opened) self->events_.opened(head);
  };
  options.sink = [weak = weak_from_this()](std::string_view bytes) {
    const auto self = weak.lock();
    if (self && !self->is_let_go_ && self->events_.bytes) self->events_.bytes(bytes);
  };
  return options;
}

void ClientStream::Shared::send() {
  connection_->send(
      bytes_, reader_options(),
      [self = shared_from_this()](ClientConnection::End end) { self->ended(std::move(end)); });
}

void ClientStream::Shared::ended(ClientConnection::End end) {
  if (is_let_go_.exchange(true) || !events_.closed) return;
  const bool is_refusal =
      end.response && (end.response->status < 200 || end.response->status > 299);
  auto why = is_refusal     ? fmt::format("refused with status {}", end.response->status)
             : end.response ? std::string("the server ended the stream")
                            : std::move(end.failure);
  if (!is_refusal) end.response.reset();
  events_.closed({Errc::unavailable, fmt::format("{}: {}", peer_, why)}, std::move(end.response));
}

void ClientStream::Shared::let_go() {
  // The child shares the parent's epoll: closing a socket here would take it from the parent.
  if (generation_ != runtime::fork_generation()) {
    kept_ = shared_from_this();
    return;
  }
  is_let_go_ = true;
  runtime_->post([self = shared_from_this()] { self->connection_->close(); });
}

ClientStream::~ClientStream() { shared_->let_go(); }

std::unique_ptr<ClientStream> open_client_stream(std::shared_ptr<runtime::Runtime> runtime,
                                                 const Origin& origin, const ClientRequest& request,
                                                 StreamEvents events) {
  auto shared = std::make_shared<ClientStream::Shared>(runtime, origin, bytes_of(origin, request),
                                                       std::move(events));
  runtime->post([shared] { shared->start(); });
  return std::make_unique<ClientStream>(std::move(shared));
}

}  // namespace holdfast::net::http
