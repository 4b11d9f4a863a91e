# Says in one sentence what CMake would say once for each target.
include(CheckCXXSourceCompiles)

set(compiler_advice "set CXX to a compiler that does (g++ 11, clang++ 16 or newer)")
if(NOT cxx_std_20 IN_LIST CMAKE_CXX_COMPILE_FEATURES)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} doesn't know C++20: ${compiler_advice}")
endif()
set(CMAKE_CXX_STANDARD 20)
check_cxx_source_compiles(
  "#include <concepts>
   #include <source_location>
   #include <span>
   static_assert(std::integral<int>);
   int main() { return std::source_location::current().line() == 0; }"
  SELVAGE_COMPILER_KNOWS_CXX20)
unset(CMAKE_CXX_STANDARD)
if(NOT SELVAGE_COMPILER_KNOWS_CXX20)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} doesn't know all of C++20: ${compiler_advice}")
endif()
