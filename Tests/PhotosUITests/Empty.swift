import PhotosUI
