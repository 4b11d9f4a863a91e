// SCOTCH's header uses FILE without including what declares it.
#include <selvage/topo/fabric.hpp>

#include <gtest/gtest.h>
#include <scotch.h>

#include <cstdio>
#include <map>
#include <string>

namespace selvage::topo {
namespace {

/// Finds each target by halving, since SCOTCH_archDomTerm of 7.0.3 is off by one where distances are listed.
void collect_targets(SCOTCH_Arch* arch, const SCOTCH_ArchDom& domain,
                     std::map<SCOTCH_Num, SCOTCH_ArchDom>& targets) {
  if (SCOTCH_archDomSize(arch, &domain) == 1) {
    targets[SCOTCH_archDomNum(arch, &domain)] = domain;
    return;
  }
  SCOTCH_ArchDom first;
  SCOTCH_ArchDom second;
  ASSERT_EQ(SCOTCH_archDomBipart(arch, &domain, &first, &second), 0);
  collect_targets(arch, first, targets);
  collect_targets(arch, second, targets);
}

TEST(ScotchTarget, CostsWhatScotchItselfCounts) {
  for (const std::string text :
       {"tleaf\n3 2 30 2 20 3 7\n", "tleaf\n1 5 4\n", "tleaf\n2 3 9 2 1\n", "cmplt\n6\n", "mesh2D 4 3\n",
        "mesh3D 2 3 4\n", "torus2D 5 4\n", "torus3D 2 5 3\n", "hcub 4\n",
        "deco\n0\n4 7\n0 1 4\n1 1 5\n2 1 6\n3 1 7\n1\n5 6\n7 8 2\n"}) {
    FILE* file = fmemopen(const_cast<char*>(text.data()), text.size(), "r");
    SCOTCH_Arch arch;
    SCOTCH_archInit(&arch);
    ASSERT_EQ(SCOTCH_archLoad(&arch, file), 0) << text;
    std::fclose(file);
    const Fabric fabric = fabric_from_scotch_target(text, "t");
    ASSERT_EQ(fabric.slot_count(), SCOTCH_archSize(&arch));
    SCOTCH_ArchDom whole;
    SCOTCH_archDomFrst(&arch, &whole);
    std::map<SCOTCH_Num, SCOTCH_ArchDom> targets;
    collect_targets(&arch, whole, targets);
    ASSERT_EQ(targets.size(), static_cast<std::size_t>(fabric.slot_count()));
    for (int a = 0; a < fabric.slot_count(); ++a) {
      for (int b = 0; b < fabric.slot_count(); ++b) {
        EXPECT_EQ(static_cast<SCOTCH_Num>(fabric.cost(a, b)),
                  SCOTCH_archDomDist(&arch, &targets.at(a), &targets.at(b)))
            << text << a << " " << b;
      }
    }
    SCOTCH_archExit(&arch);
  }
}

}  // namespace
}  // namespace selvage::topo
