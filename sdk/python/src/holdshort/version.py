"""Version of this package. Servers with the same major and minor version are compatible."""

VERSION = "0.1.0"
