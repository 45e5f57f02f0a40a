print("bletool")
