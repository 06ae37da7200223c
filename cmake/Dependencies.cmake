# SPDX-License-Identifier: Apache-2.0
# What the library links. All of it is private: no public header names any of these, except the
# opt-in ones in holdfast/asio/. A new entry also belongs in holdfastConfig.cmake.in and
# packaging/pkgconfig/holdfast.pc.in.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(LMDB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Hiredis MODULE REQUIRED)

set(HOLDFAST_LINKS
  Boost::headers Boost::json Boost::url LMDB::LMDB Hiredis::Hiredis OpenSSL::SSL spdlog::spdlog fmt::fmt yaml-cpp Threads::Threads)

# Asio is compiled once, in src/runtime/asio_impl.cpp.
set(HOLDFAST_DEFINITIONS
  BOOST_ASIO_SEPARATE_COMPILATION SPDLOG_FMT_EXTERNAL)
