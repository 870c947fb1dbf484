# Install tree and the package that find_package(strop) finds: filled in with the package test.
