"""The errors that evidence can have: SPEC 1.4, 9, 10.1."""


class Malformed(Exception):
    """Bytes that no writer of this version makes."""


class Unknown(Exception):
    """A version, type or code that this version of the SPEC does not list. It cannot be judged."""


class StepFailed(Exception):
    """A step of SPEC 10.1 does not hold."""

    def __init__(self, step, detail):
        super().__init__(f"{step}: {detail}")
        self.step = step
        self.detail = detail


class Broken(Exception):
    """An entry breaks a rule of SPEC 9."""

    def __init__(self, rule, detail=""):
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.detail = detail
