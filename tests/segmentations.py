"""Segmentations to which other objects belong, as cloud-volume makes them."""

import json

TRANSFORM = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]


def segmentation(cloudvolume, folder, **members):
    info = cloudvolume.CloudVolume.create_new_info(
        num_channels=1, layer_type="segmentation", data_type="uint64", encoding="raw", resolution=[1, 1, 1],
        voxel_offset=[0, 0, 0], chunk_size=[64, 64, 64], volume_size=[64, 64, 64], **members,
    )  # fmt: skip
    (folder / "info").write_text(json.dumps(info))
    return cloudvolume.CloudVolume(f"file://{folder}", progress=False)
