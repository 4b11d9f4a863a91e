"""What all pictures share: colours, errors, and how they are written."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the backend is known)
from PIL import Image  # noqa: E402

BLUE, ORANGE, GREY, GREEN, OCHRE, VIOLET = "#1b6ca8", "#c2571a", "#8a8d91", "#6d9f71", "#b7a13b", "#7a4fa3"
PALE = "#c9d6e2"


class PlotError(Exception):
    """Something about the files that the user can mend."""


def save(figure, path):
    try:
        figure.savefig(path, dpi=150)
        # With a palette a picture takes a third of the bytes.
        if path.suffix == ".png":
            with Image.open(path) as picture:
                picture.quantize(256).save(path, optimize=True)
    except OSError as error:
        raise PlotError(f"{path} can't be written: {error}") from error
    finally:
        plt.close(figure)
    return path
