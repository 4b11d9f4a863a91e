#include <selvage/comm/allreduce_options.hpp>
#include <selvage/comm/box.hpp>
#include <selvage/comm/options.hpp>
#include <selvage/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace selvage::test {
namespace {

template <class Function>
Error thrown_by(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::verification, "nothing was thrown"};
}

TEST(Options, AreReadAsTheyAreWritten) {
  for (const Transport transport : {Transport::peer, Transport::copy_engine, Transport::mpi_direct,
                                    Transport::mpi_staged, Transport::ring}) {
    EXPECT_EQ(parse_transport(to_string(transport)), transport);
  }
  for (const Initiation initiation :
       {Initiation::host, Initiation::stream, Initiation::queue, Initiation::kernel}) {
    EXPECT_EQ(parse_initiation(to_string(initiation)), initiation);
  }
  for (const AllreduceAlgorithm algorithm :
       {AllreduceAlgorithm::one_shot, AllreduceAlgorithm::one_shot_ll128, AllreduceAlgorithm::two_shot,
        AllreduceAlgorithm::two_shot_ll128, AllreduceAlgorithm::two_shot_push,
        AllreduceAlgorithm::two_shot_copy_engine, AllreduceAlgorithm::copy_engine,
        AllreduceAlgorithm::shared_buffer_tree, AllreduceAlgorithm::hierarchical, AllreduceAlgorithm::mpi,
        AllreduceAlgorithm::nccl, AllreduceAlgorithm::binomial_tree, AllreduceAlgorithm::recursive_doubling,
        AllreduceAlgorithm::ring, AllreduceAlgorithm::segmented_ring,
        AllreduceAlgorithm::recursive_doubling_ll, AllreduceAlgorithm::multi_ring,
        AllreduceAlgorithm::pipelined}) {
    EXPECT_EQ(parse_allreduce_algorithm(to_string(algorithm)), algorithm);
  }
}

TEST(Options, KnowTheNamesOfPapers) {
  EXPECT_EQ(parse_allreduce_algorithm("gsb"), AllreduceAlgorithm::shared_buffer_tree);
  EXPECT_EQ(parse_allreduce_algorithm("btb"), AllreduceAlgorithm::binomial_tree);
}

TEST(Options, ListWhatThereIsForAnUnknownName) {
  const Error transport = thrown_by([] { static_cast<void>(parse_transport("pear")); });
  EXPECT_EQ(transport.kind(), ErrorKind::input);
  EXPECT_EQ(transport.message(),
            "\"pear\" is no transport: there are peer, copy_engine, mpi_direct, mpi_staged, ring");
  const Error initiation = thrown_by([] { static_cast<void>(parse_initiation("Host")); });
  EXPECT_EQ(initiation.kind(), ErrorKind::input);
  EXPECT_EQ(initiation.message(), "\"Host\" is no initiation: there are host, stream, queue, kernel");
  EXPECT_EQ(thrown_by([] { static_cast<void>(parse_transport("")); }).kind(), ErrorKind::input);
}

TEST(Width, IsOneNumberOrASidePerAxis) {
  const Width<3> everywhere = 2;
  for (int axis = 0; axis < 3; ++axis) EXPECT_TRUE(everywhere[axis].low == 2 && everywhere[axis].high == 2);
  Width<2> sides{{1, 0}, {2, 3}};
  EXPECT_TRUE(sides[0].low == 1 && sides[0].high == 0);
  EXPECT_TRUE(sides[1].low == 2 && sides[1].high == 3);
  sides[0].high = 4;
  EXPECT_EQ(sides, (Width<2>{{1, 4}, {2, 3}}));
}

TEST(Width, RefusesANumberOfSidesThatIsNotTheAxes) {
  const Error error = thrown_by([] { static_cast<void>(Width<3>{{1, 1}, {2, 2}}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.message(), "a width of 2 sides for 3 axes");
}

TEST(Box, CountsItsCells) {
  const Box<3> box{{2, 0, 5}, {4, 3, 9}};
  EXPECT_EQ(box.extent(0), 2);
  EXPECT_EQ(box.extent(2), 4);
  EXPECT_EQ(box.cells(), 24);
  EXPECT_EQ((Box<2>{{1, 1}, {1, 5}}).cells(), 0);
}

}  // namespace
}  // namespace selvage::test
