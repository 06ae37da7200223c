// SPDX-License-Identifier: Apache-2.0
#include "net/http/socket_file.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::net::http {

namespace asio = boost::asio;

void remove_stale_socket(const std::string& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  asio::io_context context;
  asio::local::stream_protocol::socket probe(context);
  boost::system::error_code failed;
  probe.connect(asio::local::stream_protocol::endpoint(path), failed);
  if (failed == asio::error::connection_refused) unlink(path.c_str());
}

}  // namespace holdfast::net::http
