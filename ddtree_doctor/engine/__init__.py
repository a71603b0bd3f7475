"""All that the doctor knows of SGLang: the only package that names its modules."""
