"""From a failing launch to its smallest failing case, and to a file that shows it without the doctor."""
