#include "md/io/state_files/lammps_data.hpp"

#include "expect_error.hpp"
#include "temporary_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <sstream>
#include <string>

namespace selvage::md {
namespace {

using app::testing_support::error_message;

StateFile read(const std::string& text) {
  std::istringstream stream(text);
  return read_lammps_data(stream, "a.data");
}

const std::string header =
    "LAMMPS data file, whatever this says\n"
    "\n"
    "2 atoms\n"
    "1 atom types\n"
    "0 bonds\n"
    "-1 4.5 xlo xhi\n"
    "0 5 ylo yhi  # a comment\n"
    "0 6e0 zlo zhi\n"
    "\n";
const std::string atoms =
    "Atoms # atomic\n"
    "\n"
    "7 1 1.5 2 3 0 -1 12\n"
    "3 1 -1 0 5.25 0 0 0\n";

TEST(LammpsData, ReadsWhatWriteDataWrites) {
  const StateFile file = read(header + "Masses\n\n1 1.0\n\nPair Coeffs # lj/cut\n\n1 1 1 2.5\n\n" + atoms +
                              "\nVelocities\n\n3 1e-3 -2 3\n7 4 5 6\n");
  EXPECT_TRUE(file.has_velocities);
  const State& state = file.state;
  EXPECT_EQ(state.domain, (Domain{{-1, 0, 0}, {4.5, 5, 6}}));
  EXPECT_EQ(state.ids, (std::vector<std::int64_t>{7, 3}));
  EXPECT_EQ(state.positions[1].z, 5.25);
  EXPECT_EQ(state.images[0].y, -1);
  EXPECT_EQ(state.images[0].z, 12);
  EXPECT_EQ(state.velocities[0].x, 4);
  EXPECT_EQ(state.velocities[1].x, 1e-3);
}

TEST(LammpsData, ImagesAndVelocitiesMayBeMissing) {
  const StateFile file = read(header + "Atoms\n\n1 1 0 0 0\n2 1 1 1 1\n");
  EXPECT_FALSE(file.has_velocities);
  EXPECT_EQ(file.state.images[1].x, 0);
  EXPECT_EQ(file.state.velocities[1].z, 0);
}

TEST(LammpsData, ABoxOfZeroTiltIsNotTilted) {
  const StateFile file = read(header + "0 0.0 -0e0 xy xz yz\n" + "Atoms\n\n1 1 +0.5 0 0\n2 1 1 1 1\n");
  EXPECT_EQ(file.state.domain, (Domain{{-1, 0, 0}, {4.5, 5, 6}}));
  EXPECT_EQ(file.state.positions[0].x, 0.5);
}

void expect_refusal(const std::string& text, const std::string& message) {
  EXPECT_EQ(error_message(ErrorKind::input, [&] { static_cast<void>(read(text)); }), message);
}

TEST(LammpsData, WhatItCantUseIsNamedWithItsLine) {
  expect_refusal("", "a.data:0: the header doesn't say how many atoms there are");
  expect_refusal("x\n2 atoms\n0 1 xlo xhi\n",
                 "a.data:3: the header lacks one of 'xlo xhi', 'ylo yhi' and 'zlo zhi'");
  expect_refusal("x\ntwo atoms\n", "a.data:2: 'two' is not a number that fits here");
  expect_refusal("x\n0 atoms\n", "a.data:2: 0 atoms are not 1 to 2147483647");
  expect_refusal("x\n3000000000 atoms\n", "a.data:2: 3000000000 atoms are not 1 to 2147483647");
  expect_refusal("x\n2 atom types\n", "a.data:2: 2 atom types, and md knows one");
  expect_refusal("x\n0.5 0 0 xy xz yz\n", "a.data:2: '0.5 0 0 xy xz yz' is not known in the header");
  expect_refusal("x\n0 2.5 0 xy xz yz\n", "a.data:2: '0 2.5 0 xy xz yz' is not known in the header");
  expect_refusal("x\n1 bonds\n", "a.data:2: '1 bonds' is not known in the header");
  expect_refusal("x\nno bonds\n", "a.data:2: 'no bonds' is not known in the header");
  expect_refusal("x\nno\x1b[31m \xf4 bonds\n", "a.data:2: 'no?[31m ? bonds' is not known in the header");
  expect_refusal(header, "a.data:9: the file ends without a section Atoms");
  expect_refusal(header + "Atoms\n\n1 1 0 0 0\n", "a.data:12: the section Atoms ends after 1 of 2 lines");
  expect_refusal(header + atoms + "4 1 0 0 0\n",
                 "a.data:14: the section Atoms has more than the 2 lines that the header says");
  expect_refusal(header + "Atoms\n\n1 1 0 0\n",
                 "a.data:12: 4 words instead of 'id type x y z', with or without three image flags");
  expect_refusal(header + "Atoms\n\n1 1 0 0 zero\n", "a.data:12: 'zero' is not a number that fits here");
  expect_refusal(header + "Atoms\n\n1 2 0 0 0\n", "a.data:12: type 2, and md knows only 1");
  expect_refusal(header + "Atoms\n\n5 1 0 0 0\n5 1 1 1 1\n", "a.data:13: atom 5 is there twice");
  expect_refusal(header + "Masses\n\n1 2\n", "a.data:12: the mass is not 1, the only one that md knows");
  expect_refusal(header + "Bonds\n\n1 1 1 2\n", "a.data:10: md knows no section Bonds");
  expect_refusal(header + atoms + "\nVelocities\n\n3 1 2 3\n4 1 2 3\n",
                 "a.data:18: atom 4 has a velocity and no position");
  expect_refusal(header + atoms + "\nVelocities\n\n3 1 2 3\n3 1 2 3\n",
                 "a.data:18: atom 3 has a velocity already");
  expect_refusal(header + "Atoms # full\n\n1 1 1 0 0 0 0 0\n",
                 "a.data:10: atom style full, and md knows only atomic");
  // The second line has lost its end.
  expect_refusal(header + "Atoms\n\n1 1 0 0 0 0 0 0\n2 1 1 1 1\n",
                 "a.data:13: 5 words, and 8 in the lines before");
  expect_refusal(header + atoms + "Atoms\n\n1 1 0 0 0\n2 1 1 1 1\n",
                 "a.data:14: there is a section Atoms already");
  const std::string velocities = "Velocities\n\n3 1 2 3\n7 1 2 3\n";
  expect_refusal(header + atoms + velocities + velocities,
                 "a.data:18: there is a section Velocities already");
  expect_refusal(header + "Velocities\n\n3 1 2 3\n", "a.data:10: the section Velocities comes before Atoms");
}

TEST(LammpsData, LongLinesAreReadAsFarAsAnyLineIs) {
  const std::string longest(65'536, 'x');
  EXPECT_EQ(read(longest + "\n" + header.substr(header.find('\n') + 1) + atoms).state.ids.size(), 2);
  expect_refusal(longest + "x\n", "a.data:1: the line has more than 65536 bytes");
  expect_refusal("x\n" + std::string(100'000, '\0'), "a.data:2: the line has more than 65536 bytes");
}

std::string refusal_of_file(const std::string& path) {
  return error_message(ErrorKind::input, [&] { static_cast<void>(read_lammps_data(path)); });
}

/// Nobody writes to the pipe: without a look, opening it waits for ever.
TEST(LammpsData, WhatIsNoFileIsRefused) {
  const app::testing_support::TemporaryDirectory folder;
  const std::string pipe = folder / "pipe.data";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of_file(pipe), "cannot read " + pipe + ": it is a pipe, not a file");
  EXPECT_EQ(refusal_of_file("/dev/zero"), "cannot read /dev/zero: it is a device, not a file");
  EXPECT_EQ(refusal_of_file(folder.path()), "cannot read " + folder.path() + ": Is a directory");
}

TEST(LammpsData, ThatCannotBeReadOnGivesTheReasonOfTheSystem) {
  EXPECT_EQ(refusal_of_file("/proc/self/mem"),
            "/proc/self/mem:0: the next line can't be read: Input/output error");
}

}  // namespace
}  // namespace selvage::md
