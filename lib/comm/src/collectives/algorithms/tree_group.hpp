#pragma once

#include "group_link.hpp"
#include "reduction_tree.hpp"

#include <functional>
#include <memory>

namespace selvage::detail {

/// Makes a link with the memory that a rank needs. make_tree_group is collective if this is.
using MakeLink = std::function<std::unique_ptr<GroupLink>(const GroupParts&, const LinkShape&)>;

/// Combines values up a tree to its root, and shares the result down the same tree. Values of lower positions are combined first.
[[nodiscard]] std::unique_ptr<GroupCollective> make_tree_group(const GroupParts& parts, MakeTree make_tree,
                                                               const MakeLink& make_link);

}  // namespace selvage::detail
