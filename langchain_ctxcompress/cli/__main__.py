"""`python -m langchain_ctxcompress.cli`."""

from langchain_ctxcompress.cli import main

if __name__ == "__main__":
    main()
