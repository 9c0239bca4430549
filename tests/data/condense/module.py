import json
import re


class Step0:
    """What step 0 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(0):
            total += n * 0
        return total


class Step1:
    """What step 1 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(1):
            total += n * 1
        return total


class Step2:
    """What step 2 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(2):
            total += n * 2
        return total


class Step3:
    """What step 3 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(3):
            total += n * 3
        return total


class Step4:
    """What step 4 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(4):
            total += n * 4
        return total


class Step5:
    """What step 5 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(5):
            total += n * 5
        return total


class Step6:
    """What step 6 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(6):
            total += n * 6
        return total


class Step7:
    """What step 7 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(7):
            total += n * 7
        return total


class Step8:
    """What step 8 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(8):
            total += n * 8
        return total


class Step9:
    """What step 9 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(9):
            total += n * 9
        return total


class Step10:
    """What step 10 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(10):
            total += n * 10
        return total


class Step11:
    """What step 11 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(11):
            total += n * 11
        return total


class Step12:
    """What step 12 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(12):
            total += n * 12
        return total


class Step13:
    """What step 13 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(13):
            total += n * 13
        return total


class Step14:
    """What step 14 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(14):
            total += n * 14
        return total


class Step15:
    """What step 15 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(15):
            total += n * 15
        return total


class Step16:
    """What step 16 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(16):
            total += n * 16
        return total


class Step17:
    """What step 17 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(17):
            total += n * 17
        return total


class Step18:
    """What step 18 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(18):
            total += n * 18
        return total


class Step19:
    """What step 19 does."""

    def run(self, value: int) -> int:
        total = value
        for n in range(19):
            total += n * 19
        return total


if __name__ == "__main__":
    print(json.dumps([re.escape("a")]))
