// SPDX-License-Identifier: Apache-2.0
#include "net/http/channel.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/write.hpp>
#include <linux/sockios.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>

namespace holdfast::net::http {

namespace asio = boost::asio;

Channel::Channel(Socket socket, TlsContext tls) : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_) encrypted_.emplace(socket_, *tls_);
}

void Channel::shake_hands(Moved done) {
  encrypted_->async_handshake(
      asio::ssl::stream_base::server,
      [done = std::move(done)](boost::system::error_code failed) mutable { done(failed, 0); });
}

void Channel::read_some(std::span<char> into, Moved done) {
  const asio::mutable_buffer buffer(into.data(), into.size());
  if (encrypted_) return encrypted_->async_read_some(buffer, std::move(done));
  socket_.async_read_some(buffer, std::move(done));
}

void Channel::write(std::string_view from, Moved done) {
  const asio::const_buffer buffer(from.data(), from.size());
  if (encrypted_) return asio::async_write(*encrypted_, buffer, std::move(done));
  asio::async_write(socket_, buffer, std::move(done));
}

std::size_t Channel::write_now(std::string_view from) noexcept {
  if (encrypted_ || !socket_.is_open()) return 0;
  const auto taken =
      send(socket_.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return taken < 0 ? 0 : static_cast<std::size_t>(taken);
}

std::string Channel::certificate() const {
  if (!encrypted_) return {};
  auto* session = const_cast<asio::ssl::stream<Socket&>&>(*encrypted_).native_handle();
  const std::unique_ptr<X509, decltype(&X509_free)> peer(SSL_get1_peer_certificate(session),
                                                         &X509_free);
  if (!peer || SSL_get_verify_result(session) != X509_V_OK) return {};
  std::array<char, 256> name{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName,
                                             name.data(), name.size());
  return size > 0 ? std::string(name.data(), static_cast<std::size_t>(size)) : std::string();
}

void Channel::cancel() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

// Without waiting for the other side's goodbye: it may never come. Asio keeps what the session
// writes in memory of its own until its next operation, and there is none, so this goes around it.
void Channel::say_goodbye() {
  if (!encrypted_) return;
  auto* const session = encrypted_->native_handle();
  if ((SSL_get_shutdown(session) & SSL_SENT_SHUTDOWN) != 0) return;
  BIO* const bytes = BIO_new(BIO_s_mem());
  SSL_set0_wbio(session, bytes);
  SSL_shutdown(session);
  ERR_clear_error();
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bytes, &data);
  if (size <= 0) return;
  [[maybe_unused]] const auto told = send(
      socket_.native_handle(), data, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Channel::end_writing() {
  say_goodbye();
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Channel::drop_unsent() {
  int unsent = 0;
  if (ioctl(socket_.native_handle(), SIOCOUTQ, &unsent) != 0 || unsent == 0) return;
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
}

void Channel::close() {
  if (!socket_.is_open()) return;
  say_goodbye();
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
  socket_.close(ignored);
}

}  // namespace holdfast::net::http
