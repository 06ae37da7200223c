// SPDX-License-Identifier: Apache-2.0
#include "server_fixture.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace holdfast::server {
namespace {

class SocketFileTest : public ServerTest {
 protected:
  std::string path() const { return (folder_.path() / "s").string(); }
  Result<std::unique_ptr<Server>> start_here() const {
    ServerOptions here;
    here.listen = {"unix:" + path()};
    return Server::start(here, *open_core("memory:"));
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(SocketFileTest, is_for_its_user_alone_and_gone_afterwards) {
  {
    const auto running = start_here();
    ASSERT_TRUE(running) << running.error().message;
    struct stat status{};
    ASSERT_EQ(stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
    EXPECT_EQ(call_at("unix:" + path(), {.path = "/v1/locks"}).status, 200);
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SocketFileTest, a_file_that_a_dead_server_left_is_replaced_and_a_live_one_is_not) {
  const int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un where{.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(path(), where.sun_path);
  ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
  close(left);
  const auto running = start_here();
  ASSERT_TRUE(running) << running.error().message;
  const auto second = start_here();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
  EXPECT_EQ(call_at("unix:" + path(), {.path = "/v1/locks"}).status, 200);
}

TEST_F(SocketFileTest, a_file_that_is_no_socket_is_not_touched) {
  std::ofstream(path()) << "precious";
  EXPECT_FALSE(start_here());
  EXPECT_EQ(std::filesystem::file_size(path()), 8U);
}

}  // namespace
}  // namespace holdfast::server
