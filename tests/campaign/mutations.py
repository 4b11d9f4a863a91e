"""Damage to bytes, to text and to values of variables, the same for the same random numbers."""

import os
import re

ALPHABET = b'0123456789,-x=[]{}":\n \\#\xff\x00\x1b\x7fN.e'
EXTREMES = [b"0", b"-1", b"1", b"2147483648", b"9223372036854775807", b"18446744073709551616", b"1e308", b"-1e999", b"nan", b"inf",
            b"0x10", b"1.5", b"''", b""]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def flip_bits(random, data):
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8, 64])):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def truncate(random, data):
    return data[: random.randrange(len(data))]


def remove(random, data):
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randint(1, 16):]


def duplicate(random, data):
    at = random.randrange(len(data))
    length = random.choice([4, 16, 256, len(data)])
    return data[: at + length] + data[at:]


def insert_random(random, data):
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.randint(1, 16)) + data[at:]


def insert_text(random, data):
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.choice(ALPHABET)]) + data[at:]


def fill(random, data):
    """A stretch of zeros or ones, as lost sectors leave it."""
    at = random.randrange(len(data))
    length = min(len(data) - at, random.choice([1, 8, 64, 512]))
    return data[:at] + bytes([random.choice([0, 0xFF])]) * length + data[at + length:]


def swap_numbers(random, data):
    numbers = list(NUMBER.finditer(data))
    if len(numbers) < 2:
        return flip_bits(random, data)
    first, second = sorted(random.sample(numbers, 2), key=lambda match: match.start())
    return (data[: first.start()] + second[0] + data[first.end(): second.start()] + first[0] + data[second.end():])


def extreme_number(random, data):
    numbers = list(NUMBER.finditer(data))
    if not numbers:
        return insert_text(random, data)
    match = random.choice(numbers)
    return data[: match.start()] + random.choice(EXTREMES) + data[match.end():]


def swap_lines(random, data):
    lines = data.splitlines(keepends=True)
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"".join(lines)


BINARY = (flip_bits, flip_bits, truncate, remove, duplicate, insert_random, fill, fill)
TEXT = (flip_bits, truncate, remove, duplicate, insert_random, insert_text, swap_numbers, extreme_number, extreme_number, swap_lines)


def mutated(random, data, is_text):
    """One to four of these changes, one more often than several."""
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        if data:
            data = random.choice(TEXT if is_text else BINARY)(random, data)
    return data


def mutated_argument(random, text):
    """What can be handed to a process."""
    changed = mutated(random, os.fsencode(text), is_text=True).replace(b"\0", b"0")
    return os.fsdecode(changed)
