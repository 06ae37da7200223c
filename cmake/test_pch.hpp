// SPDX-License-Identifier: Apache-2.0
// Precompiled for the tests. A speed-up only: every file still includes what it uses.
#pragma once

#include "pch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
