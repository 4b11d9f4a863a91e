"""What must hold after a try. Each function yields sentences on what does not."""

import re
import struct

try:
    import h5py
except ImportError:
    h5py = None

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
FORBIDDEN_TEXT = (b"terminate called", b"AddressSanitizer", b"runtime error:", b"Assertion", b"*** Process received signal")


def messages(stderr, app):
    """The lines in which a program says what is wrong."""
    start = f"{app}: error:" if app in ("jacobi", "md", "sgd") else f"{app}: "
    return [line for line in stderr.decode(errors="replace").splitlines() if line.startswith(start)]


def output_problems(text):
    for forbidden in FORBIDDEN_TEXT:
        if forbidden in text:
            yield f"'{forbidden.decode()}' in the output"
    control = sorted({byte for byte in text if (byte < 0x20 and byte not in b"\n\t") or byte == 0x7F})
    if control:
        yield f"control characters in the output: {', '.join(hex(byte) for byte in control)}"


def exit_problems(job, app, codes):
    """A program that was given something bad must end by itself, with one message."""
    if job.code not in codes:
        yield f"exit code {job.code}"
    yield from output_problems(job.stderr())
    said = messages(job.stderr(), app)
    # Failed verification is told on standard output, as a result.
    if job.code in (1, 2) and len(said) != 1:
        yield f"{len(said)} messages for exit code {job.code}"


def names_rank(message, rank):
    """Whether it says that this rank is late, apart from [kind, rank of whom it is from]."""
    sentence = re.sub(r"\[[^][]*\]\s*$", "", message)
    return any(
        str(rank) in re.findall(r"\d+", listed)
        for listed in re.findall(r"\branks? (\d+(?:(?:, | and |, and )\d+)*)", sentence))


def hdf5_problem(path):
    """None for a whole HDF5 file: h5py reads all of it, or without h5py it is as long as its superblock says."""
    if h5py is not None:
        try:
            with h5py.File(path, "r") as file:
                file.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)
        except (OSError, RuntimeError) as error:
            return f"{path.name}: {error}"
        return None
    start = path.read_bytes()[:96]
    if not start.startswith(HDF5_SIGNATURE):
        return f"{path.name}: no HDF5 signature"
    try:
        if start[8] < 2:
            end = struct.unpack_from("<Q", start, (28 if start[8] == 1 else 24) + 16)[0]
        else:
            end = struct.unpack_from("<Q", start, 12 + 16)[0]
    except struct.error:
        return f"{path.name}: no whole superblock"
    if end > path.stat().st_size:
        return f"{path.name}: {path.stat().st_size} bytes of {end}"
    return None
