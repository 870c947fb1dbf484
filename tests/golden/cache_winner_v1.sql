INSERT INTO environment_v1 VALUES (1, 'name=NVIDIA H200
sm=90
sms=132
', 'NVIDIA H200', '580.159.03', '580.159.03', 'nvrtc 12.8 build 1f', '0.1.0', 'GPU-0123');
INSERT INTO entry_v1 VALUES (1, '5f07fe5ba31c', 'causal_conv1d', 'B=2 T=4096 D=2048 W=4 dtype=bf16', 'name=NVIDIA H200
sm=90
sms=132
', '7e57000000000000000000000000000000000000000000000000000000000000');
INSERT INTO winner_v1 VALUES (1, 1, '{rows=16, vec=4}', 'c0de', 12.5, 0.25, 12.125, 40, 18, 3, '4.1 % ahead of the next', 'budget', 10.75, 1764583200, 1764583300, 1764583400);
