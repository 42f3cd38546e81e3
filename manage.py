#!/usr/bin/env python
from comparena.command import main

if __name__ == "__main__":
    main()
