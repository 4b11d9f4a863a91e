#include "md/io/state.hpp"

#include "expect_error.hpp"
#include "md/physics/lattice.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace selvage::md {
namespace {

using app::testing_support::error_message;

std::string refusal(const State& state) {
  return error_message(ErrorKind::input, [&] { check_state(state, "a file"); });
}

TEST(State, WhatIsFineIsAccepted) {
  EXPECT_NO_THROW(check_state(fcc_crystal({1, 2, 3}, 1), "a file"));
}

TEST(State, AnEmptyOneIsRefused) {
  EXPECT_EQ(refusal(State{.domain = {{0, 0, 0}, {1, 1, 1}}}), "a file: there are no atoms");
}

TEST(State, ABoxWithoutExtentIsRefused) {
  State state = fcc_crystal({1, 1, 1}, 1);
  state.domain.upper[1] = state.domain.lower[1];
  EXPECT_EQ(refusal(state), "a file: the box has no extent along y: from 0 to 0");
}

TEST(State, AnAtomOutsideTheBoxIsNamed) {
  State state = fcc_crystal({1, 1, 1}, 4);
  state.positions[2].z = 1.5;
  EXPECT_EQ(refusal(state), "a file: atom 3 lies outside the box: z = 1.5, and the box goes from 0 to 1");
}

TEST(State, AnAtomAtASideThatWasRoundedToFp32IsAccepted) {
  State state = fcc_crystal({1, 1, 1}, 4);
  state.domain = {{-1.1, -1.1, -1.1}, {7.9, 7.9, 7.9}};
  state.positions[0].x = -1.1F;
  ASSERT_LT(state.positions[0].x, state.domain.lower[0]);
  state.positions[1].y = 7.9F;
  ASSERT_GT(state.positions[1].y, state.domain.upper[1]);
  EXPECT_NO_THROW(check_state(state, "a file"));
}

TEST(State, NumbersThatArentFiniteAreRefused) {
  State state = fcc_crystal({1, 1, 1}, 4);
  state.velocities[1].y = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(state).find("atom 2 has a position or velocity that isn't finite"), std::string::npos);
  state = fcc_crystal({1, 1, 1}, 4);
  state.positions[0].x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal(state).find("atom 1 has a position"), std::string::npos);
}

TEST(State, IdsHaveToDifferAndStartAtOne) {
  State state = fcc_crystal({1, 1, 1}, 4);
  state.ids[3] = 2;
  EXPECT_EQ(refusal(state), "a file: atom 2 is there twice");
  state.ids[3] = 0;
  EXPECT_EQ(refusal(state), "a file: atom id 0 is below 1");
}

}  // namespace
}  // namespace selvage::md
