"""The two ways in which the doctor refuses to answer."""

__all__ = ["DoctorError", "UsageError"]


class DoctorError(Exception):
    """The tool itself failed and there is no verdict: exit status 3."""

    exit_status = 3


class UsageError(DoctorError):
    """What the user gave cannot be used: exit status 2.

    The message names the subject, the value seen, what is allowed and what to do, on one line.
    """

    exit_status = 2
