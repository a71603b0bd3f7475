"""The report object and its formats. Formatters are pure and return text; only the CLI writes."""
