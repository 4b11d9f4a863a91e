# Included by scripts/each-alone.sh right after project(): the targets' sources are read, and no code is made of them. Kokkos, and in
# tests GoogleTest, are read precompiled, and nothing else: by tests, which all include them, and by those sources that do.
set(SELVAGE_SYNTAX_ONLY ON)
add_compile_options(-fsyntax-only -O0 -Werror)
