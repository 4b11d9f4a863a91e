# Included by scripts/each-alone.sh right after project(): the targets' sources are read, and no code is made of them. Tests read
# Kokkos and GoogleTest precompiled, which each of them includes, and nothing else.
set(SELVAGE_SYNTAX_ONLY ON)
add_compile_options(-fsyntax-only -O0 -Werror)
