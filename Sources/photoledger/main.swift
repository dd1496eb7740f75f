print("photoledger")
