"""scripts/plot.py draws what a run or a benchmark leaves, and says plainly what is missing."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import h5py
import numpy as np

plot_script = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(plot_script.parent))
import plot  # noqa: E402  (after its folder is known)

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class PlotCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = pathlib.Path(self.directory.name)

    def plot(self, *arguments):
        """In this process, since importing matplotlib for each picture takes longer than drawing it."""
        printed, complaints, code = io.StringIO(), io.StringIO(), 0
        with (unittest.mock.patch.object(sys, "argv", [str(plot_script), *map(str, arguments)]),
              contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complaints)):
            try:
                plot.main()
            except SystemExit as end:
                code = end.code
                if isinstance(code, str):
                    complaints.write(code)
                    code = 1
        return subprocess.CompletedProcess(arguments, code, printed.getvalue(), complaints.getvalue())

    def run_plot(self, *arguments):
        return subprocess.run([sys.executable, plot_script, *arguments], capture_output=True, text=True, check=False)


class PlotJacobi(PlotCase):
    def write_field(self, shape, step=10, value=None):
        with h5py.File(self.out / f"fields_{step:08}.h5", "w") as file:
            data = np.linspace(0, 1, int(np.prod(shape))).reshape(shape) if value is None else np.full(shape, value)
            file["u"] = data

    def write_norms(self, text="step,residual,residual_theory,error,theory\n0,2,2,1,1\n10,1,1,0.5,0.5\n"):
        (self.out / "norms.csv").write_text(text)

    def expect_pictures(self):
        result = self.plot("jacobi", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("field.png", "convergence.png"):
            self.assertTrue((self.out / name).read_bytes().startswith(PNG_SIGNATURE), name)
            self.assertIn(str(self.out / name), result.stdout)

    def expect_error(self, text):
        result = self.plot("jacobi", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_draws_a_flat_field_and_the_convergence(self):
        self.write_field((6, 8))
        self.write_norms()
        self.expect_pictures()

    def test_draws_the_middle_slice_of_a_solid_field(self):
        self.write_field((5, 6, 7))
        self.write_norms()
        self.expect_pictures()

    def test_draws_a_field_without_any_difference_in_it(self):
        self.write_field((6, 8), value=0.0)
        self.write_norms()
        self.expect_pictures()

    def test_skips_columns_that_are_missing_or_empty(self):
        self.write_field((6, 8))
        self.write_norms("step,residual,residual_theory,error,theory\n0,2,,,\n10,1,,,\n")
        self.expect_pictures()
        self.write_norms("step,residual\n0,2\n")
        self.expect_pictures()

    def test_reads_the_newest_field(self):
        self.write_field((6, 8), step=20)
        (self.out / "fields_00000010.h5").write_text("not HDF5")
        self.write_norms()
        self.expect_pictures()

    def test_says_that_there_is_no_field(self):
        self.write_norms()
        self.expect_error("has no field files")

    def test_says_that_there_is_no_history(self):
        self.write_field((6, 8))
        self.expect_error("norms.csv does not exist")

    def test_says_that_a_field_is_not_readable(self):
        (self.out / "fields_00000010.h5").write_text("not HDF5")
        self.write_norms()
        self.expect_error("fields_00000010.h5 can't be read")

    def test_says_that_a_field_holds_nan(self):
        self.write_field((6, 8), value=float("nan"))
        self.write_norms()
        self.expect_error("not finite")

    def test_says_that_the_directory_is_none(self):
        result = self.run_plot("jacobi", self.out / "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is not a directory", result.stderr)

    def test_explains_itself(self):
        result = self.run_plot("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("convergence.png", result.stdout)


class PlotHistories(PlotCase):
    """Of md and sgd, which leave no fields."""

    def expect_picture(self, app, name):
        result = self.plot(app, self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.out / name).read_bytes().startswith(PNG_SIGNATURE), name)
        self.assertIn(str(self.out / name), result.stdout)

    def expect_error(self, app, text):
        result = self.plot(app, self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_draws_md_s_energies(self):
        (self.out / "thermo.csv").write_text("step,temperature,pair_energy,total_energy,pressure,momentum\n"
                                             "0,1.44,-6.8,-4.6,-5,0\n10,1.1,-6.3,-4.6,-2.5,1e-17\n")
        self.expect_picture("md", "thermo.png")

    def write_atoms(self, step, atoms=5):
        with h5py.File(self.out / f"trajectory_{step:08}.h5", "w") as file:
            file["particles/all/box/edges/value"] = [[4.0, 5.0, 6.0]]
            for name in ("position", "velocity"):
                file[f"particles/all/{name}/value"] = np.linspace(0.0, 3.9, 3 * atoms).reshape(1, atoms, 3)

    def test_draws_the_atoms_of_trajectories(self):
        (self.out / "thermo.csv").write_text("step,temperature,pair_energy,total_energy,pressure,momentum\n"
                                             "0,1.44,-6.8,-4.6,-5,0\n10,1.1,-6.3,-4.6,-2.5,1e-17\n")
        self.write_atoms(0)
        self.expect_picture("md", "atoms.png")
        of_one = (self.out / "atoms.png").read_bytes()
        self.write_atoms(10)
        self.write_atoms(5)
        self.expect_picture("md", "atoms.png")
        self.assertNotEqual((self.out / "atoms.png").read_bytes(), of_one)
        (self.out / "trajectory_00000010.h5").write_bytes(b"none")
        self.expect_error("md", "trajectory_00000010.h5 can't be read")

    def test_draws_sgd_s_losses_before_and_after_the_first_epoch(self):
        (self.out / "steps.csv").write_text("step,loss,accuracy,rate\n1,2.3,0.1,0.1\n2,2.1,0.2,0.1\n")
        (self.out / "epochs.csv").write_text("step,test_loss,test_accuracy\n2,2.2,0.15\n")
        self.expect_picture("sgd", "loss.png")

    def test_says_which_history_or_column_is_missing(self):
        self.expect_error("md", "thermo.csv does not exist: is this the --out directory of a run of md?")
        self.expect_error("sgd", "steps.csv does not exist")
        (self.out / "thermo.csv").write_text("step,temperature\n0,1\n")
        self.expect_error("md", "thermo.csv has no column pair_energy")
        (self.out / "steps.csv").write_text("step,loss,accuracy,rate\n1,2.3,0.1,0.1\n")
        (self.out / "epochs.csv").write_text("step,test_loss,test_accuracy\n")
        self.expect_error("sgd", "epochs.csv has no rows")


class AllreduceSeries(unittest.TestCase):
    """What is drawn beside what, without drawing."""

    def series(self, *records):
        from plots import allreduce
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "records.json"
            path.write_text(json.dumps(records))
            return allreduce.series_of(allreduce.read_records([path]))

    def record(self, name, value, choice, peers=None):
        return {"name": name, "value": value, "unit": "us", "choice": choice, "peers": peers or {}}

    def test_holds_peers_but_not_our_forms_that_were_not_chosen(self):
        name = "allreduce/fp32/4gpu/1024/graph"
        self.assertEqual(self.series(self.record(name, 3, "chosen: one_shot", {"NCCL": 8, "two_shot": 4})),
                         {"Selvage": [(1024, 3)], "NCCL": [(1024, 8)]})

    def test_compares_graphs_with_graphs(self):
        name = "allreduce/fp32/4gpu/1024"
        self.assertEqual(self.series(self.record(f"{name}/graph", 3, "chosen: one_shot"),
                                     self.record(f"{name}/graph", 8, "torch NCCL", {"torch two_shot": 6}),
                                     self.record(name, 20, "torch NCCL", {"torch two_shot": 30})),
                         {"Selvage": [(1024, 3)], "torch NCCL": [(1024, 8)], "torch two_shot": [(1024, 6)]})


class PlotAllreduce(PlotCase):
    def record(self, name, **changes):
        return {"name": name, "value": 3.5, "unit": "us", "peers": {"NCCL": 8.0, "two_shot": 4.0},
                "choice": "chosen: one_shot", "hardware": "4x Some/GPU"} | changes

    def write(self, records, name="records.json"):
        path = self.out / name
        path.write_text(json.dumps(records))
        return path

    def expect_error(self, text, *arguments):
        result = self.plot("allreduce", *arguments, "--out", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_draws_a_picture_per_hardware_and_number_of_ranks(self):
        four = self.write([self.record("allreduce/fp32/4gpu/1024/graph"), self.record("halo/box/fp64/128/peer/stream"),
                           self.record("allreduce/fp32/4gpu/4194304", algorithm="two_shot")])
        two = self.write([self.record("allreduce/fp64/2rank/64", hardware="2xCPU")], "two.json")
        result = self.plot("allreduce", four, two, "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("allreduce-4x-Some-GPU-4gpu.png", "allreduce-2xCPU-2rank-fp64.png"):
            self.assertTrue((self.out / name).read_bytes().startswith(PNG_SIGNATURE), name)
            self.assertIn(str(self.out / name), result.stdout)
        self.assertEqual(len(list(self.out.glob("*.png"))), 2)

    def test_says_that_nothing_was_recorded(self):
        self.expect_error("no record's name starts with allreduce/", self.write([self.record("halo/face")]))

    def test_says_that_a_file_holds_no_records(self):
        self.expect_error("has no records of benchmarks", self.write({"format": "selvage allreduce table 1"}))
        self.expect_error("No such file or directory", self.out / "absent.json")

    def test_refuses_another_unit_than_microseconds(self):
        self.expect_error("is in ms, not in us", self.write([self.record("allreduce/fp32/4gpu/1024", unit="ms")]))


class ScalingShares(unittest.TestCase):
    """What is compared with which ideal, without drawing."""

    def shares(self, *records):
        from plots import scaling
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "records.json"
            path.write_text(json.dumps(records))
            groups = scaling.read_figures([path])
        return {figure: scaling.shares(figure, by_ranks) for group in groups.values() for figure, by_ranks in group.items()}

    def record(self, name, value, better="lower", **more):
        return {"name": name, "value": value, "unit": "x", "better": better, "hardware": "8xGPU"} | more

    def test_knows_what_each_kind_of_figure_grows_with(self):
        shares = self.shares(self.record("jacobi/public-sample/fp32/2048/1gpu", 8), self.record("jacobi/public-sample/fp32/2048/4gpu", 4),
                             self.record("lj/fp64/32000/2gpu", 100, "higher"), self.record("lj/fp64/32000/8gpu", 300, "higher"),
                             self.record("sgd/mlp/1gpu", 90), self.record("sgd/mlp/8gpu", 100),
                             self.record("allreduce/fp32/2gpu/64/graph", 2), self.record("allreduce/fp32/4gpu/64/graph", 6))
        self.assertEqual(shares, {"jacobi/public-sample/fp32/2048": [(1, 1.0), (4, 0.5)], "lj/fp64/32000": [(2, 1.0), (8, 0.75)],
                                  "sgd/mlp": [(1, 1.0), (8, 0.9)], "allreduce/fp32/64/graph": [(2, 1.0), (4, 0.5)]})

    def test_takes_shares_of_one_alone_as_they_are(self):
        self.assertEqual(self.shares(self.record("jacobi/weak/fp64/3d7/512/8gpu", 0.97, "higher")),
                         {"jacobi/weak/fp64/3d7/512": [(1, 1.0), (8, 0.97)]})

    def test_leaves_out_what_others_measured_and_what_has_one_number_of_ranks(self):
        ours = [self.record(f"sgd/mlp/{gpus}gpu", 90, choice="a graph per step") for gpus in (1, 2)]
        self.assertEqual(self.shares(*ours, self.record("sgd/mlp/4gpu", 200, choice="torch DDP"),
                                     self.record("sgd/cnn/1gpu", 5), self.record("sgd/cnn/2gpu", 5, hardware="2xGPU")),
                         {"sgd/mlp": [(1, 1.0), (2, 1.0)]})


class PlotScaling(PlotCase):
    def record(self, name, **changes):
        return {"name": name, "value": 100.0, "unit": "Matom-steps/s", "better": "higher", "hardware": "8x GPU"} | changes

    def plot_records(self, *records):
        path = self.out / "records.json"
        path.write_text(json.dumps(records))
        return self.plot("scaling", path, "--out", self.out)

    def test_draws_a_picture_per_app(self):
        result = self.plot_records(self.record("lj/fp64/32000/1gpu"), self.record("lj/fp64/32000/8gpu", value=500.0),
                                   self.record("halo/box/1rank", better="lower"), self.record("halo/box/2rank", better="lower"))
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("scaling-8x-GPU-lj.png", "scaling-8x-GPU-halo-ranks.png"):
            self.assertTrue((self.out / name).read_bytes().startswith(PNG_SIGNATURE), name)
            self.assertIn(str(self.out / name), result.stdout)

    def test_says_that_there_is_nothing_to_compare(self):
        result = self.plot_records(self.record("lj/fp64/32000/8gpu"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no figure of two numbers of GPUs or ranks", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


class PlotTables(PlotCase):
    def test_draws_the_tables_of_the_docs(self):
        result = self.plot("tables", "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        pictures = result.stdout.split()
        self.assertGreaterEqual(len(pictures), 5)
        for picture in pictures:
            self.assertTrue(pathlib.Path(picture).read_bytes().startswith(PNG_SIGNATURE), picture)

    def test_names_the_column_that_a_picture_of_a_table_lacks(self):
        from plots import bars

        definition = {"title": "t", "columns": [{"title": "a"}], "rows": [], "plot": {"columns": ["b"], "file": "x.png"}}
        with self.assertRaisesRegex(ValueError, "wants the column 'b', and there are a"):
            bars.numbers_of(None, definition)


class PlotTopo(PlotCase):
    def write_map(self, **changes):
        mapped = {"selvage_placement_version": 1, "fabric": "flat", "method": "blocks", "reason": "cheapest", "best": "blocks",
                  "methods": [{"method": "default", "percent_of_default": 100.0, "bytes_between_hosts": 5},
                              {"method": "blocks", "percent_of_default": 80.0, "bytes_between_hosts": 4}],
                  "hosts": [{"name": "a", "slots": 2}, {"name": "b", "slots": 1}],
                  "ranks": [{"host": 0, "slot": 0}, {"host": 1, "slot": 0}, {"host": 0, "slot": 1}],
                  "links": [{"link": "a up", "bytes": 3, "load": 3.0, "default_load": 4.0}]} | changes
        path = self.out / "map.json"
        path.write_text(json.dumps(mapped))
        return path

    def write_csv(self, rows="0,1,5,1,0,0\n1,2,0,0,7,1\n"):
        path = self.out / "traffic.csv"
        path.write_text("from,to,host_bytes,host_messages,device_bytes,device_messages\n" + rows)
        return path

    def pictures(self, *arguments):
        result = self.plot("topo", *arguments, "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        drawn = sorted(path.name for path in self.out.glob("*.png"))
        for name in drawn:
            self.assertTrue((self.out / name).read_bytes().startswith(PNG_SIGNATURE), name)
        return drawn

    def expect_error(self, text, *arguments):
        result = self.plot("topo", *arguments, "--out", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn(text, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_draws_methods_and_links_and_traffic(self):
        self.assertEqual(self.pictures(self.write_map(), "--traffic", self.write_csv()),
                         ["links.png", "methods.png", "traffic.png"])

    def test_reads_a_profile(self):
        path = self.out / "profile.h5"
        with h5py.File(path, "w") as file:
            for memory in ("host", "device"):
                file[f"{memory}/bytes"] = np.eye(3, k=1, dtype=np.uint64) * 8
        self.assertEqual(self.pictures(self.write_map(), "--traffic", path), ["links.png", "methods.png", "traffic.png"])

    def test_draws_what_there_is(self):
        self.assertEqual(self.pictures(self.write_map(links=[])), ["methods.png"])
        self.assertEqual(self.pictures(self.write_map(links=[]), "--traffic", self.write_csv("2,2,0,0,0,0\n")),
                         ["methods.png", "traffic.png"])

    def test_draws_the_hosts_of_a_grid(self):
        self.assertEqual(self.pictures(self.write_map(links=[]), "--grid", "3x1"), ["grid.png", "methods.png"])
        self.expect_error("a grid of 2 x 2 ranks for a placement of 3", self.write_map(), "--grid", "2x2")
        result = self.plot("topo", self.write_map(), "--grid", "3x")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'3x' is no grid such as 16x16", result.stderr)

    def test_says_what_does_not_fit(self):
        self.expect_error("the traffic is of 2 ranks, the placement of 3", self.write_map(), "--traffic",
                          self.write_csv("0,1,5,1,0,0\n"))
        (self.out / "x.csv").write_text("a,b\n1,2\n")
        self.expect_error("doesn't begin with from,to", self.write_map(), "--traffic", self.out / "x.csv")
        (self.out / "other.json").write_text("[]")
        self.expect_error("is not what selvage-topo map --json prints", self.out / "other.json")


class PlotMachine(PlotCase):
    """A host with GPUs joined in several ways, one without any, one where they are unknown."""

    def known(self, value):
        return {"value": value, "source": "nvml"}

    def unknown(self):
        return {"value": None, "unknown": "no permission"}

    def host(self, name, gpus, levels=()):
        """`levels`: by pair, the level and the number of NVLinks."""
        names = [f"0000:{number:02x}:00.0" for number in range(gpus or 0)]
        pairs = [(a, b) for a in range(gpus or 0) for b in range(a + 1, gpus or 0)]
        return {"name": name, "cores": self.known(8), "numa_nodes": self.unknown(), "switches": self.known(["top", "leaf"]),
                "gpus": self.unknown() if gpus is None else self.known([{"pci_bus_id": gpu, "numa_node": self.known(0)} for gpu in names]),
                "gpu_pairs": [{"first": names[a], "second": names[b], "level": level, "nvlinks": links,
                               "nvlink_gb_per_s": self.known(25.0 * links) if links else self.unknown()}
                              for (a, b), (level, links) in zip(pairs, levels)]}

    def write_machine(self, hosts, version=1):
        path = self.out / "machine.json"
        path.write_text(json.dumps({"selvage_machine_version": version, "physical_hosts": hosts}))
        return path

    def draw(self, hosts):
        result = self.plot("machine", self.write_machine(hosts), "--out", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.out / "machine.png").read_bytes().startswith(PNG_SIGNATURE))

    def test_draws_every_level(self):
        levels = [("nvlink", 4), ("nvswitch", 18), ("pcie_switch", 0), ("root_complex", 0), ("numa", 0), ("system", 0)]
        self.draw([self.host("a", 4, levels), self.host("b", 2, [("unknown", 0)])])

    def test_draws_hosts_without_gpus_and_leaves_out_too_many(self):
        self.draw([self.host("a", 0), self.host("b", None)])
        self.draw([self.host(f"n{number}", 1) for number in range(20)])

    def test_says_what_is_no_machine(self):
        for path in (self.write_machine([], version=2), self.write_machine([{"name": "a"}])):
            result = self.plot("machine", path, "--out", self.out)
            self.assertEqual(result.returncode, 1)
            self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
