"""What can be wrong with evidence: SPEC 1.4."""


class Malformed(Exception):
    """Bytes that no writer of this version makes."""


class Unknown(Exception):
    """A version, type or code that this version does not list: nobody can judge."""


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
