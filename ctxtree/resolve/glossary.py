"""Terms of the field in English and Chinese, so that words of one language find text of the other.

A short table of what people build, run and book with an assistant; what is not in it matches in its own
language only. Read by `english`, which puts the English term in place of the Chinese one.
"""

from __future__ import annotations

import re

_TERMS = """
refactor 重构 | rewrite 重写 | test 测试 | unit 单元 | pass 通过 | deploy 部署 上线 | release 发布 发版
staging 预发布 预发 | database 数据库 db | index 索引 | query 查询 | table 数据表 表格 | schema 表结构
migration 迁移 | backup 备份 | restore 还原 | cache 缓存 | theme 主题 | login 登录 登陆 | register 注册
password 密码 口令 | user 用户 | session 会话 | token 令牌 | permission 权限 | interface 接口 api | service 服务
server 服务器 服务端 | client 客户端 | request 请求 | response 响应 | timeout 超时 | connection 连接 | network 网络
gateway 网关 | proxy 代理 | config 配置 | environment 环境 | install 安装 | dependency 依赖 | package 软件包
module 模块 | component 组件 | function 函数 | parameter 参数 | variable 变量 | loop 循环 | decorator 装饰器
exception 异常 | warning 警告 | bug 缺陷 漏洞 | fix 修复 | patch 补丁 | crawler 爬虫 | script 脚本 | code 代码
file 文件 | folder 目录 文件夹 | path 路径 | log 日志 | run 运行 执行 | build 构建 | compile 编译 | compiler 编译器
branch 分支 | merge 合并 | commit 提交 | template 模板 模版 | render 渲染 | renderer 渲染器 | editor 编辑器
parser 解析器 | parse 解析 | search 搜索 检索 | sort 排序 | filter 过滤 筛选 | page 页面 | pagination 分页
button 按钮 | form 表单 | style 样式 | layout 布局 | color 颜色 | image 图片 图像 | video 视频 | audio 音频
chart 图表 graph | report 报告 报表 | document 文档 docs doc | draft 草稿 稿子 初稿 | title 标题 | summary 摘要 总结
outline 大纲 | introduction 引言 | paragraph 段落 | chapter 章节 | story 故事 | character 角色 人物
villain 反派 坏人 | ending 结局 结尾 | formal 正式 | translate 翻译 | email 邮件 | message 消息 | sms 短信
notification 通知 | payment 支付 付款 | order 订单 | invoice 发票 | refund 退款 | voucher 代金券 | coupon 优惠券
price 价格 | discount 折扣 | budget 预算 | customer 客户 | product 产品 商品 | stock 库存 股票 | hotel 酒店 宾馆 旅馆
flight 航班 机票 | train 火车 列车 | ticket 门票 车票 | restaurant 餐厅 餐馆 饭店 | sight 景点 | museum 博物馆
park 公园 | weather 天气 | map 地图 | route 路线 | trip 旅行 行程 | morning 早上 早晨 上午 | evening 晚上 傍晚
schedule 日程 | news 新闻 | music 音乐 | movie 电影 | recipe 食谱 菜谱 | thread 线程 | queue 队列 | pool 连接池
container 容器 | model 模型 | data 数据 | dataset 数据集 | feature 功能 | security 安全 | performance 性能
memory 内存 | storage 存储 | encrypt 加密 | random 随机 | string 字符串 | list 列表 | dictionary 字典 | array 数组
type 类型 | split 拆分 | rename 重命名 | delete 删除 | replace 替换 | update 更新 | upgrade 升级 | download 下载
upload 上传 | import 导入 | export 导出 | optimize 优化 | format 格式 | validate 校验 验证 | sound 声音 音效
speed 速度 | player 玩家 | game 游戏 | project 项目 | experience 经验 | resume 简历 | english 英文 英语 | chinese 中文
experiment 实验 | survey 问卷 | header 页眉 请求头 | footer 页脚 | menu 菜单 | homepage 首页 主页 | dashboard 仪表盘
event 事件 | calendar 日历 | meeting 会议 | contract 合同 | shipping 物流 配送 | address 地址 | account 账户 账号
bill 账单 | statistics 统计 | dark 深色 暗色 | light 浅色 | font 字体 | icon 图标 | animation 动画
mobile 移动端 手机端 | comment 评论 注释 | tag 标签 | category 分类 | cart 购物车 | checkout 结账 | seat 座位
breakfast 早餐 | lunch 午餐 | dinner 晚餐 | beach 海滩 | picnic 野餐 | zone 时区 | polling 轮询 | compress 压缩
clean 清理 清空 | clear 清除 | copy 复制 | sync 同步 | async 异步 | parallel 并行 | concurrent 并发
batch 批量 批处理 | cron 定时任务 | task 任务 | pipeline 流水线 | workflow 工作流 | admin 管理员 | sidebar 侧边栏
popup 弹窗 | input 输入框 输入 | output 输出 | print 打印 | debug 调试 | mock 模拟 | coverage 覆盖率 | accuracy 准确率
plugin 插件 | extension 扩展 | framework 框架 | blue 蓝色 | red 红色 | green 绿色 | black 黑色 | white 白色
orange 橙色 | grey 灰色 gray | done 完成 做完 做好 搞定 写完 写好 完毕 | load 负载 加载 | load_test 压测
benchmark 基准 | authenticate 鉴权 认证 auth | check 检查 | confirm 确认 | retry 重试 | monitor 监控 | browser 浏览器
frontend 前端 | backend 后端 | link 链接 | price_list 价格表 报价单 | attachment 附件 | signature 签名
fee 手续费 费用 | curve 曲线 | plot 画图 绘图 | profit 利润 收益 | cost 成本 | minute 分钟 | daily 日线 每日
weekly 每周 | monthly 每月 | section 小节 | example 例子 示例 | sentence 句子 | tone 语气 | formula 公式 | result 结果
settings 设置 | language 语言 | german 德语 | french 法语 | japanese 日语 | picture 插图 | logo 标志 | slide 幻灯片
row 行数 | column 列数 | review 评审 | interview 面试 采访 | course 课程 | exam 考试 | homework 作业 | teacher 老师
student 学生 | doctor 医生 | hospital 医院 | exercise 锻炼 | diet 饮食 | coffee 咖啡 | room 房间 | kitchen 厨房
garden 花园 | car 汽车 | bus 公交 | subway 地铁 | airport 机场 | station 车站 | passport 护照 | visa 签证
luggage 行李
"""


def _entries() -> dict[str, str]:
    groups = (group.split() for line in _TERMS.strip().splitlines() for group in line.split(" | "))
    return {form: term.replace("_", " ") for term, *forms in groups for form in forms}


ENGLISH = _entries()
_HAN = re.compile("|".join(sorted((form for form in ENGLISH if not form.isascii()), key=len, reverse=True)))
_SHORT = re.compile(rf"\b(?:{'|'.join(form for form in ENGLISH if form.isascii())})\b", re.IGNORECASE)
_COMPOUND = re.compile(
    r"\b(clean|speed|roll|build|scale|warm|set|lay)[ -]?(?:up|out|off|down|over)\b",
    re.IGNORECASE,
)
"""Verbs with a particle that are written as one word where they are nouns: "clean up" and "the cleanup"."""


def english(text: str) -> str:
    """The text with the terms of the table told in English: 回到重构之前 gives "回到 refactor 之前"."""
    text = _COMPOUND.sub(r"\1", _SHORT.sub(lambda found: ENGLISH[found.group().lower()], text))
    return text if text.isascii() else _HAN.sub(lambda found: f" {ENGLISH[found.group()]} ", text)
