// SPDX-License-Identifier: Apache-2.0
#include "server/reader_thread.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace holdfast::server {

struct ReaderThread::Pool {
  boost::asio::thread_pool threads{1};
};

ReaderThread::ReaderThread() = default;

ReaderThread::~ReaderThread() {
  if (pool_) pool_->threads.join();
}

void ReaderThread::run(std::move_only_function<void()> job) {
  std::call_once(started_, [this] { pool_ = std::make_unique<Pool>(); });
  boost::asio::post(pool_->threads, [job = std::move(job)]() mutable { job(); });
}

}  // namespace holdfast::server
