#pragma once

#include <selvage/error.hpp>

// SCOTCH's header uses FILE without including what declares it.
#include <fmt/format.h>
#include <scotch.h>

#include <cstdio>
#include <vector>

namespace selvage::topo::scotch {

/// \throws Error{unsupported} unless SCOTCH returned 0
inline void check(int code, const char* call) {
  if (code != 0) throw Error(ErrorKind::unsupported, fmt::format("{} failed", call), code);
}

/// A graph that refers to its arrays.
class Graph {
 public:
  Graph() { check(SCOTCH_graphInit(&graph_), "SCOTCH_graphInit"); }
  ~Graph() { SCOTCH_graphExit(&graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void build(const std::vector<SCOTCH_Num>& first, const std::vector<SCOTCH_Num>& vertex_weights,
             const std::vector<SCOTCH_Num>& neighbours, const std::vector<SCOTCH_Num>& edge_weights) {
    const auto vertices = static_cast<SCOTCH_Num>(first.size() - 1);
    const SCOTCH_Num* weights = vertex_weights.empty() ? nullptr : vertex_weights.data();
    check(
        SCOTCH_graphBuild(&graph_, 0, vertices, first.data(), first.data() + 1, weights, nullptr,
                          static_cast<SCOTCH_Num>(neighbours.size()), neighbours.data(), edge_weights.data()),
        "SCOTCH_graphBuild");
  }
  [[nodiscard]] SCOTCH_Graph* get() { return &graph_; }

 private:
  SCOTCH_Graph graph_;
};

/// Which methods SCOTCH uses; its own choice unless told.
class Strategy {
 public:
  Strategy() { check(SCOTCH_stratInit(&strategy_), "SCOTCH_stratInit"); }
  ~Strategy() { SCOTCH_stratExit(&strategy_); }
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  [[nodiscard]] SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

/// The targets to map to.
class Architecture {
 public:
  Architecture() { check(SCOTCH_archInit(&architecture_), "SCOTCH_archInit"); }
  ~Architecture() { SCOTCH_archExit(&architecture_); }
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;

  [[nodiscard]] SCOTCH_Arch* get() { return &architecture_; }

 private:
  SCOTCH_Arch architecture_;
};

/// One thread, deterministic algorithms, and the given seed.
class Context {
 public:
  explicit Context(SCOTCH_Num seed) {
    check(SCOTCH_contextInit(&context_), "SCOTCH_contextInit");
    check(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "SCOTCH_contextThreadSpawn");
    check(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
          "SCOTCH_contextOptionSetNum");
    check(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1),
          "SCOTCH_contextOptionSetNum");
    check(SCOTCH_contextRandomClone(&context_), "SCOTCH_contextRandomClone");
    SCOTCH_contextRandomSeed(&context_, seed);
  }
  ~Context() { SCOTCH_contextExit(&context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void bind(Graph& graph, Graph& bound) {
    check(SCOTCH_contextBindGraph(&context_, graph.get(), bound.get()), "SCOTCH_contextBindGraph");
  }

 private:
  SCOTCH_Context context_;
};

}  // namespace selvage::topo::scotch
