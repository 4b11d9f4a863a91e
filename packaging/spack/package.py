# The Spack package of Selvage; packaging/README.md says how to use it. Versions are those that CMake asks for, and what was tried.
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Selvage(CMakePackage, CudaPackage):
    """Halo exchange, allreduce and topology for distributed Kokkos programs."""

    license("BSD-3-Clause")

    # Of a checkout: spack develop --path CHECKOUT selvage@0.2.0
    version("0.2.0")

    # The variants cuda and cuda_arch are CudaPackage's.
    variant("openmp", default=False, description="Run on threads of the host by OpenMP")
    variant("tools", default=True, description="Build selvage-topo and selvage-tune")
    variant("profiler", default=True, description="Build the recorder of any MPI program's traffic")
    variant("shared", default=False, description="Build shared libraries")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    # Kokkos 5 was not tried.
    depends_on("kokkos@4.5:4 +serial cxxstd=20 +pic")
    depends_on("kokkos ~cuda", when="~cuda")
    depends_on("kokkos ~openmp ~threads", when="~openmp ~cuda")
    depends_on("kokkos +openmp", when="+openmp")
    # Other ranks can map no memory of cudaMallocAsync.
    depends_on("kokkos +cuda +cuda_constexpr +cuda_lambda +wrapper ~alloc_async", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    depends_on("mpi@3.1:")
    depends_on("fmt +pic")
    depends_on("hwloc@2:")
    depends_on("pugixml +pic")
    depends_on("scotch")
    depends_on("hdf5 +mpi")
    depends_on("nlohmann-json")
    depends_on("cli11", when="+tools")
    # Of Kokkos' new Views nvcc 13 and the host's compiler see different layouts, and Spack's Kokkos has no others.
    depends_on("cuda@12.3:12", when="+cuda")

    conflicts("+cuda", when="cuda_arch=none", msg="name the GPU, e.g. cuda_arch=90")
    conflicts("+openmp", when="+cuda", msg="Kokkos takes one of both by default: the GPU")
    conflicts("%gcc@:10", msg="C++20 takes gcc 11 or newer")

    generator("ninja")

    def cmake_args(self):
        backend = "serial"
        if self.spec.satisfies("+cuda"):
            backend = "cuda"
        elif self.spec.satisfies("+openmp"):
            backend = "openmp"
        args = [
            self.define("SELVAGE_BACKEND", backend),
            self.define("SELVAGE_FETCH_KOKKOS", False),
            self.define("SELVAGE_BUILD_APPS", False),
            self.define("SELVAGE_BUILD_TESTS", False),
            self.define("SELVAGE_BUILD_BENCH", False),
            self.define("SELVAGE_BUILD_EXAMPLES", False),
            # Spack's wrapper chooses the processor and the cache.
            self.define("SELVAGE_NATIVE", False),
            self.define("SELVAGE_CCACHE", False),
            self.define_from_variant("SELVAGE_BUILD_TOOLS", "tools"),
            self.define_from_variant("SELVAGE_BUILD_PROFILER", "profiler"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("MPI_CXX_COMPILER", self["mpi"].mpicxx),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
